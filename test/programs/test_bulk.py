"""Bulk copies (TMA) on sm_90a: those of pipelined loops, with and without a producer warp, bulk
stores and bulk additions. Exact for ragged shapes and any number of iterations, in both modes of
the virtual GPU. Remarks say which copies TMA does not do."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.ptxas import find_ptxas

DEVICE = "vgpu:sm_90a"


@pytest.fixture(params=["", "late"], autouse=True)
def mode(request, monkeypatch):
    """Asynchronous effects happen at once, or not before a wait."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param)


def gemm(m, n, k, tile=(128, 128, 64), stages=3, threads=256, dtype="float16", trans=(False, True)):
    (bm, bn, bk), (ta, tb) = tile, trans
    a_shape, b_shape = (k, m) if ta else (m, k), (n, k) if tb else (k, n)

    @T.prim_func
    def main(
        A: T.Tensor(a_shape, dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((m, n), "float32")
    ):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((bk, bm) if ta else (bm, bk), dtype)
            b = T.alloc_shared((bn, bk) if tb else (bk, bn), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, bk), num_stages=stages):
                if ta:
                    T.copy(A[i * bk, by * bm], a)
                else:
                    T.copy(A[by * bm, i * bk], a)
                if tb:
                    T.copy(B[bx * bn, i * bk], b)
                else:
                    T.copy(B[i * bk, bx * bn], b)
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb)
            T.copy(c, C[by * bm, bx * bn])

    return main


def check(m, n, k, dtype="float16", trans=(False, True), **options):
    """The kernel, after its values were compared with Python's integers."""
    kernel = tilewright.compile(gemm(m, n, k, dtype=dtype, trans=trans, **options), device=DEVICE)
    rng = np.random.default_rng(7)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a, b = rng.integers(-3, 4, (m, k)), rng.integers(-3, 4, (k, n))
    c = np.full((m, n), np.nan, np.float32)
    x, y = a.T if trans[0] else a, b.T if trans[1] else b
    kernel(np.ascontiguousarray(x).astype(kind), np.ascontiguousarray(y).astype(kind), c)
    np.testing.assert_array_equal(c, (a @ b).astype(np.float32))
    assert not kernel.findings
    return kernel


def messages(kernel) -> str:
    return "\n".join(str(remark) for remark in kernel.remarks)


@pytest.mark.parametrize("trips", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_any_number_of_iterations(trips: int, stages: int) -> None:
    kernel = check(128, 128, 64 * trips, stages=stages)
    assert kernel.ptx.count("cp.async.bulk.tensor") >= 2
    assert "cp.async.cg" not in kernel.ptx
    has_producer = stages > 1 and trips > 1
    assert ("producer warp" in messages(kernel)) and (
        ("mbarrier.arrive.shared" in kernel.ptx) == has_producer
    )


@pytest.mark.parametrize("trans", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_ragged_shapes(dtype: str, trans) -> None:
    assert "bulk" in check(200, 136, 200, dtype, trans).ptx
    assert "bulk" in check(64, 264, 72, dtype, trans, threads=128, tile=(64, 128, 32)).ptx


def test_rows_that_start_anywhere_are_not_bulk() -> None:
    kernel = check(128, 128, 100)
    assert "cp.async.bulk" not in kernel.ptx
    assert "rows of 'A' are not known to start at multiples of 16 bytes" in messages(kernel)


def test_an_empty_loop() -> None:
    @T.prim_func
    def main(A: T.Tensor((128, 256), "float16"), N: T.Tensor((1,), "int32"),
             C: T.Tensor((128, 128), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(N[0], num_stages=2):
                T.copy(A[0, k * 64], a)
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C)

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).integers(-3, 4, (128, 256)).astype(np.float16)
    for trips in range(5):
        c = np.full((128, 128), np.nan, np.float32)
        kernel(a, np.array([trips], np.int32), c)
        part = a[:, : 64 * trips].astype(np.float32)
        np.testing.assert_array_equal(c, part @ part.T)
        assert not kernel.findings


@pytest.mark.parametrize("inner", [0, 1, 2, 3, 5])
def test_a_loop_that_runs_several_times(inner: int) -> None:
    """The phases of its barriers go on from round to round."""

    @T.prim_func
    def main(A: T.Tensor((3 * 128, 512), "float16"), C: T.Tensor((3 * 128, 128), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            for r in T.serial(3):
                T.clear(c)
                for k in T.Pipelined(inner, num_stages=2):
                    T.copy(A[r * 128, k * 64], a)
                    T.gemm(a, a, c, transpose_B=True)
                T.copy(c, C[r * 128, 0])

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).integers(-3, 4, (384, 512)).astype(np.float16)
    c = np.full((384, 128), np.nan, np.float32)
    kernel(a, c)
    for r in range(3):
        part = a[r * 128 : r * 128 + 128, : 64 * inner].astype(np.float32)
        np.testing.assert_array_equal(c[r * 128 : r * 128 + 128], part @ part.T)
    assert not kernel.findings


def test_a_tile_that_a_loop_reads_before_the_product() -> None:
    """Each lane reads by itself, so a warp meets before it releases the version."""

    @T.prim_func
    def main(A: T.Tensor((128, 512), "float16"), C: T.Tensor((128, 128), "float32"),
             D: T.Tensor((128, 64), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            d = T.alloc_fragment((128, 64), "float32")
            T.clear(c)
            T.clear(d)
            for k in T.Pipelined(8, num_stages=2):
                T.copy(A[0, k * 64], a)
                for i, j in T.Parallel(128, 64):
                    d[i, j] += a[i, j]
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C)
            T.copy(d, D)

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).integers(-3, 4, (128, 512)).astype(np.float16)
    c, d = np.zeros((128, 128), np.float32), np.zeros((128, 64), np.float32)
    kernel(a, c, d)
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(c, wide @ wide.T)
    np.testing.assert_array_equal(d, wide.reshape(128, 8, 64).sum(1))
    assert not kernel.findings


def test_dynamic_shapes() -> None:
    m, k = T.dynamic("m"), T.dynamic("k")

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), C: T.Tensor((m, 128), "float32")):
        with T.Kernel(T.ceildiv(m, 128), threads=128) as bx:
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, 64), num_stages=2):
                T.copy(A[bx * 128, i * 64], a)
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C[bx * 128, 0])

    kernel = tilewright.compile(main, device=DEVICE)
    for rows, depth in [(128, 128), (100, 208), (300, 48), (130, 100), (0, 64), (64, 0)]:
        a = np.random.default_rng(1).integers(-3, 4, (rows, depth)).astype(np.float16)
        c = np.full((rows, 128), np.nan, np.float32)
        kernel(a, c)
        for block in range(0, rows, 128):
            part = np.zeros((128, depth), np.float32)
            own = a[block : block + 128]
            part[: len(own)] = own
            np.testing.assert_array_equal(c[block : block + 128], (part @ part.T)[: len(own)])
        assert not kernel.findings


def test_copies_without_products_have_no_producer() -> None:
    @T.prim_func
    def main(A: T.Tensor((512, 96), "float32"), C: T.Tensor((512, 96), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((32, 96), "float32")
            for k in T.Pipelined(16, num_stages=3):
                T.copy(A[k * 32, 0], a)
                for i, j in T.Parallel(32, 96):
                    C[k * 32 + i, j] = a[i, j] * 2.0

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).random((512, 96), np.float32)
    c = np.zeros_like(a)
    kernel(a, c)
    np.testing.assert_array_equal(c, a * 2)
    assert not kernel.findings
    assert "no product of the loop runs beside them" in messages(kernel)
    assert "mbarrier.try_wait" in kernel.ptx


def test_the_user_may_forbid_them() -> None:
    @T.prim_func
    def main(A: T.Tensor((512, 64), "float16"), C: T.Tensor((512, 64), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            for k in T.Pipelined(8, num_stages=2):
                T.copy(A[k * 64, 0], a, disable_tma=True)
                T.copy(a, C[k * 64, 0])

    kernel = tilewright.compile(main, device=DEVICE)
    assert "shared::cluster.global" not in kernel.ptx
    assert "the program says disable_tma" in messages(kernel)
    assert "a: not copied by TMA" in messages(kernel)


@pytest.mark.parametrize("key", ["tl.disable_tma_lower", "tl.disable_warp_specialized"])
def test_pass_configs_forbid_them(key: str) -> None:
    """The first keeps copies, stores and additions from TMA, the second has no producer."""

    @T.prim_func
    def main(A: T.Tensor((128, 512), "float16"), C: T.Tensor((128, 128), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(8, num_stages=2):
                T.copy(A[0, k * 64], a)
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C)

    kernel = tilewright.compile(main, device=DEVICE, pass_configs={key: True})
    a = np.random.default_rng(1).integers(-1, 2, (128, 512)).astype(np.float16)
    c = np.zeros((128, 128), np.float16)
    kernel(a, c)
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(c, (wide @ wide.T).astype(np.float16))
    assert not kernel.findings
    assert ("cp.async.bulk" in kernel.ptx) == (key != "tl.disable_tma_lower")
    assert "mbarrier.arrive.shared" not in kernel.ptx
    if key == "tl.disable_warp_specialized":
        assert "no producer warp: the program says so (tl.disable_warp_specialized)" in messages(
            kernel
        )


# Bulk stores.


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    ("m", "n", "k", "tile"),
    [
        (256, 256, 128, (128, 128, 64)),
        (200, 136, 200, (128, 128, 64)),
        (128, 512, 64, (64, 256, 64)),
        (100, 40, 72, (64, 64, 32)),
    ],
)
def test_results_in_16_bits_leave_through_shared_memory(m, n, k, tile, staged: bool) -> None:
    """stmatrix and a bulk store, whether the program or the compiler makes the tile."""
    bm, bn, bk = tile

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((n, k), "float16"),
             C: T.Tensor((m, n), "float16")):  # fmt: skip
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=128) as (bx, by):
            a = T.alloc_shared((bm, bk), "float16")
            b = T.alloc_shared((bn, bk), "float16")
            s = T.alloc_shared((bm, bn), "float16")
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, bk), num_stages=2):
                T.copy(A[by * bm, i * bk], a)
                T.copy(B[bx * bn, i * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            if staged:
                T.copy(c, s)
                T.copy(s, C[by * bm, bx * bn])
            else:
                T.copy(c, C[by * bm, bx * bn])

    kernel = tilewright.compile(main, device=DEVICE)
    rng = np.random.default_rng(7)
    a, b = rng.integers(-3, 4, (m, k)), rng.integers(-3, 4, (n, k))
    c = np.full((m, n), np.nan, np.float16)
    kernel(a.astype(np.float16), b.astype(np.float16), c)
    np.testing.assert_array_equal(c, (a @ b.T).astype(np.float16))
    assert not kernel.findings
    assert "stmatrix" in kernel.ptx
    assert "st.global" not in kernel.ptx
    assert "global.shared::cta.bulk_group" in kernel.ptx
    assert "cp.async.bulk.wait_group.read 0" in kernel.ptx


def test_results_that_stay_in_registers_say_why() -> None:
    text = messages(check(128, 128, 128))
    assert "C: written by each thread, not by TMA through shared memory: only 16-bit" in text


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_a_tile_that_is_stored_again_and_again(rounds: int) -> None:
    """The next round writes the tile only after the last store has read it."""

    @T.prim_func
    def main(A: T.Tensor((5 * 64, 128), "float32"), C: T.Tensor((5 * 64, 128), "float32")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float32")
            for r in T.serial(rounds):
                for i, j in T.Parallel(64, 64):
                    s[i, j] = A[r * 64 + i, j] + 1.0
                T.copy(s, C[r * 64, 64])

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).random((320, 128), np.float32)
    c = np.zeros_like(a)
    kernel(a, c)
    expected = np.zeros_like(a)
    expected[: 64 * rounds, 64:] = a[: 64 * rounds, :64] + 1
    np.testing.assert_array_equal(c, expected)
    assert not kernel.findings
    if rounds > 1:
        assert "cp.async.bulk.tensor.3d.global.shared::cta" in kernel.ptx


def test_a_copy_through_shared_memory_in_a_pipeline() -> None:
    """A bulk store reads what a bulk copy brought; the next copy waits for it."""

    @T.prim_func
    def main(A: T.Tensor((512, 64), "float16"), C: T.Tensor((512, 64), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            for k in T.Pipelined(8, num_stages=2):
                T.copy(A[k * 64, 0], a)
                T.copy(a, C[k * 64, 0])

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).random((512, 64)).astype(np.float16)
    c = np.zeros_like(a)
    kernel(a, c)
    np.testing.assert_array_equal(c, a)
    assert not kernel.findings
    assert "cp.async.bulk.global.shared::cta.bulk_group" in kernel.ptx  # whole rows: no map


def test_a_store_next_to_a_product_and_a_producer() -> None:
    """The tile of a channel is stored as well as multiplied: its release waits for the store."""

    @T.prim_func
    def main(A: T.Tensor((128, 512), "float16"), C: T.Tensor((128, 128), "float32"),
             D: T.Tensor((128, 512), "float16")):  # fmt: skip
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(8, num_stages=2):
                T.copy(A[0, k * 64], a)
                T.gemm(a, a, c, transpose_B=True)
                T.copy(a, D[0, k * 64])
            T.copy(c, C)

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).integers(-3, 4, (128, 512)).astype(np.float16)
    c, d = np.zeros((128, 128), np.float32), np.zeros_like(a)
    kernel(a, c, d)
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(c, wide @ wide.T)
    np.testing.assert_array_equal(d, a)
    assert not kernel.findings
    assert "mbarrier.arrive.shared" in kernel.ptx


@pytest.mark.parametrize("mode", ["", "late"])
@pytest.mark.parametrize("dtype, start", [("bool", 1), ("int8", 8), ("float16", 3), ("int32", 1)])
def test_blocks_whose_boxes_share_sixteen_bytes(dtype: str, start: int, mode, monkeypatch) -> None:
    """Boxes may begin anywhere in a row, and what they write ends and begins inside 16 bytes."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)

    @T.prim_func
    def main(A: T.Tensor((512,), dtype), B: T.Tensor((512,), dtype)):
        with T.Kernel(2, threads=128) as block:
            s = T.alloc_shared((256,), dtype)
            T.copy(A[block * 256 + start], s)
            T.copy(s, B[block * 256 + start])

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).integers(0, 2, 512).astype(dtype)
    b = np.zeros_like(a)
    kernel(a, b)
    np.testing.assert_array_equal(b[start:], a[start:])
    assert not b[:start].any() and not kernel.findings
    assert "cp.async.bulk.tensor.1d.global.shared::cta" in kernel.ptx


@pytest.mark.parametrize("use", ["read", "ticket"])
def test_stores_that_others_look_at_are_not_bulk(use: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 128), "float32"), C: T.Tensor((64, 128), "float32"),
             N: T.Tensor((1,), "int32"), D: T.Tensor((64, 64), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float32")
            T.copy(A[0, 0], s)
            T.copy(s, C[0, 64])
            if use == "read":
                for i, j in T.Parallel(64, 64):
                    D[i, j] = C[i, 64 + j] * 2.0
            else:
                T.atomic_add(N[0], 1, memory_order="release")

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).random((64, 128), np.float32)
    c, d, n = np.zeros_like(a), np.zeros((64, 64), np.float32), np.zeros(1, np.int32)
    kernel(a, c, n, d)
    np.testing.assert_array_equal(c[:, 64:], a[:, :64])
    assert not kernel.findings
    assert "bulk_group" not in kernel.ptx
    reason = "the kernel reads 'C'" if use == "read" else "may tell other blocks"
    assert reason in messages(kernel)


# Bulk additions.


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("columns", [64, 200])
def test_additions_of_shared_tiles(dtype: str, columns: int) -> None:
    """Blocks add to the same elements; with 200 columns the last tile leaves the tensor."""

    @T.prim_func
    def main(A: T.Tensor((4, 64, columns), dtype), C: T.Tensor((64, columns), dtype)):
        with T.Kernel(4, T.ceildiv(columns, 64), threads=128) as (bx, by):
            s = T.alloc_shared((64, 64), dtype)
            for i, j in T.Parallel(64, 64):
                s[i, j] = A[bx, i, by * 64 + j]
            T.atomic_add(C[0, by * 64], s)

    kernel = tilewright.compile(main, device=DEVICE)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a = np.random.default_rng(1).integers(-3, 4, (4, 64, columns))
    c = np.random.default_rng(2).integers(-3, 4, (64, columns))
    out = c.astype(kind)
    kernel(a.astype(kind), out)
    np.testing.assert_array_equal(out.astype(np.float64), (c + a.sum(0)).astype(np.float64))
    assert not kernel.findings
    assert "cp.reduce.async.bulk" in kernel.ptx
    assert "red.global" not in kernel.ptx


def test_sums_of_a_gemm_are_added_through_shared_memory() -> None:
    """Split K: each block adds its part of the sums."""

    @T.prim_func
    def main(A: T.Tensor((128, 512), "float16"), B: T.Tensor((128, 512), "float16"),
             C: T.Tensor((100, 128), "float32")):  # fmt: skip
        with T.Kernel(4, threads=128) as bx:
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(2, num_stages=2):
                T.copy(A[0, (bx * 2 + k) * 64], a)
                T.copy(B[0, (bx * 2 + k) * 64], b)
                T.gemm(a, b, c, transpose_B=True)
            T.atomic_add(C[0, 0], c)

    kernel = tilewright.compile(main, device=DEVICE)
    rng = np.random.default_rng(7)
    a, b = rng.integers(-3, 4, (128, 512)), rng.integers(-3, 4, (128, 512))
    c = np.zeros((100, 128), np.float32)
    kernel(a.astype(np.float16), b.astype(np.float16), c)
    np.testing.assert_array_equal(c, (a @ b.T)[:100].astype(np.float32))
    assert not kernel.findings
    assert "cp.reduce.async.bulk.tensor" in kernel.ptx
    assert "red.global" not in kernel.ptx


def test_a_tile_that_is_contiguous_under_its_layout_is_one_addition() -> None:
    """As the seed's dQ: sums added in each iteration of a pipelined loop, without a tensor map."""

    def layout(C):
        return T.Layout(C.shape, lambda l, d: [l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2])

    @T.prim_func
    def main(A: T.Tensor((256, 64), "float16"), C: T.Tensor((256, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.annotate_layout({C: layout(C)})
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[k * 64, 0], a)
                T.clear(c)
                T.gemm(a, a, c, transpose_B=True)
                T.atomic_add(C[k * 64 : (k + 1) * 64, :], c)

    kernel = tilewright.compile(main, device=DEVICE)
    a = np.random.default_rng(1).integers(-3, 4, (256, 64)).astype(np.float16)
    c = np.zeros((256, 64), np.float32)
    kernel(a, c)
    i, j = np.indices((256, 64))
    place = (i // 8 * 8 + j // 8) * 64 + j % 2 * 32 + 4 * (i % 8) + j % 8 // 2
    for k in range(4):
        part = a[k * 64 : k * 64 + 64].astype(np.float32)
        own = place[k * 64 : k * 64 + 64]
        np.testing.assert_array_equal(c.reshape(-1)[own], part @ part.T)
    assert not kernel.findings
    assert kernel.ptx.count("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32") == 1
    assert "red.global" not in kernel.ptx


@pytest.mark.parametrize("shape", [(384, 256, 256), (300, 200, 136), (128, 128, 64)])
def test_persistent_blocks_prefetch_the_next_tile(shape) -> None:
    """The producer runs through the loop over tiles by itself: it is not held up by epilogues."""
    m, n, k = shape
    rows, columns, blocks = -(-m // 128), -(-n // 128), 2

    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((n, k), "float16"),
        C: T.Tensor((m, n), "float16"),
    ):
        with T.Kernel(blocks, threads=256) as block:
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            staged = T.alloc_shared((128, 128), "float16")
            for by, bx in T.Persistent([rows, columns], blocks, block):
                T.clear(c)
                for i in T.Pipelined(T.ceildiv(k, 64), num_stages=3):
                    T.copy(A[by * 128, i * 64], a)
                    T.copy(B[bx * 128, i * 64], b)
                    T.gemm(a, b, c, transpose_B=True)
                T.copy(c, staged)
                T.copy(staged, C[by * 128, bx * 128])

    kernel = tilewright.compile(main, device=DEVICE)
    rng = np.random.default_rng(7)
    x, y = rng.integers(-2, 3, (m, k)), rng.integers(-2, 3, (n, k))
    c = np.full((m, n), np.nan, np.float16)
    kernel(x.astype(np.float16), y.astype(np.float16), c)
    np.testing.assert_array_equal(c, (x @ y.T).astype(np.float16))
    assert not kernel.findings
    assert ("issued by a producer warp" in messages(kernel)) == (k > 64)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_programmatic_dependent_launch(arch: str) -> None:
    """Each role waits for the launch before, and no tensor is taken to be constant meanwhile."""

    @T.prim_func
    def main(
        A: T.Tensor((128, 256), "float16"),
        D: T.Tensor((128, 128), "float32"),
        C: T.Tensor((128, 128), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.pdl_sync()
            T.copy(D, c)
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[0, k * 64], a)
                T.gemm(a, a, c, transpose_B=True)
            T.pdl_trigger()
            T.copy(c, C)

    kernel = tilewright.compile(main, device=f"vgpu:{arch}")
    a = np.random.default_rng(1).integers(-3, 4, (128, 256)).astype(np.float16)
    d, c = np.ones((128, 128), np.float32), np.zeros((128, 128), np.float32)
    kernel(a, d, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ a.astype(np.float32).T + 1)
    assert not kernel.findings
    if arch == "sm_80":
        assert "griddepcontrol" not in kernel.ptx
        return
    assert "producer warp" in messages(kernel)
    assert kernel.ptx.count("griddepcontrol.wait;") == 2
    assert kernel.ptx.count("griddepcontrol.launch_dependents;") == 1
    assert "ld.global.nc" not in kernel.ptx
    first_copy = kernel.ptx.index("cp.async.bulk.tensor")
    assert kernel.ptx.index("griddepcontrol.wait;") < first_copy
    assert kernel.cubin() if find_ptxas() else True
