"""Products of warpgroups (wgmma on sm_90a) that run on after their statement: each is waited for
where something needs it, and no earlier. Every program runs with asynchronous work done at once and
done at the last moment (late mode), with all checks."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.ptxas import find_ptxas

DEVICE = "vgpu:sm_90a"


@pytest.fixture(params=["", "late"], autouse=True)
def mode(request, monkeypatch) -> str:
    if request.param:
        monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param)
    return request.param


def numbers(seed: int, *shape: int, dtype=np.float16) -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(dtype)


def run(function, *arguments: np.ndarray, may_serialise: bool = False):
    kernel = tilewright.compile(function, device=DEVICE)
    kernel(*arguments)
    assert not kernel.findings
    assert "mma.sync" not in kernel.ptx
    if "TILEWRIGHT_VGPU_MODE" not in os.environ and not may_serialise:
        assert "(C75" not in words_of_ptxas(kernel)
    return kernel


def words_of_ptxas(kernel) -> str:
    """Its notes C7508 to C7519 say that products are serialised, or wait where they need not."""
    if find_ptxas() is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(kernel.ptx)
        command = [find_ptxas(), "-arch=sm_90a", source, "-o", Path(folder, "kernel.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def waits(kernel) -> list[int]:
    """What the waits for products leave open, in the order of the code."""
    return [int(n) for n in re.findall(r"wgmma\.wait_group\.sync\.aligned (\d+);", kernel.ptx)]


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float32) @ b.astype(np.float32)


def pipelined(k, stages, block_k=32, accumulate="clear first"):
    """A gemm whose copies are cp.async, which the program's own threads issue."""

    @T.prim_func
    def main(
        A: T.Tensor((128, k), "float16"),
        B: T.Tensor((64, k), "float16"),
        C: T.Tensor((128, 64), "float32"),
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((128, block_k), "float16")
            b = T.alloc_shared((64, block_k), "float16")
            c = T.alloc_fragment((128, 64), "float32")
            if accumulate == "clear first":
                T.clear(c)
            for i in T.Pipelined(k // block_k, num_stages=stages):
                T.copy(A[0, i * block_k], a, disable_tma=True)
                T.copy(B[0, i * block_k], b, disable_tma=True)
                if accumulate == "clear first":
                    T.gemm(a, b, c, transpose_B=True)
                else:
                    T.gemm(a, b, c, transpose_B=True, clear_accum=i == 0)
            T.copy(c, C)

    return main


@pytest.mark.parametrize("stages", [2, 3, 4, 6])
@pytest.mark.parametrize("trips", [1, 2, 3, 7])
def test_a_pipeline_leaves_one_product_open(stages: int, trips: int) -> None:
    """The copy of a later iteration waits for the last iteration's product; this one's runs on."""
    a, b, c = (
        numbers(1, 128, 32 * trips),
        numbers(2, 64, 32 * trips),
        np.zeros((128, 64), "float32"),
    )
    kernel = run(pipelined(32 * trips, stages), a, b, c)
    np.testing.assert_array_equal(c, product(a, b.T))
    if trips > 1:  # LLVM may unroll the loop
        assert set(waits(kernel)[:-1]) == {1}
        assert waits(kernel)[-1] == 0


def test_sums_that_a_loop_clears_at_run_time() -> None:
    """The instruction itself decides whether it reads the sums, so none is touched under way."""
    a, b, c = numbers(1, 128, 160), numbers(2, 64, 160), np.zeros((128, 64), "float32")
    kernel = run(pipelined(160, 3, accumulate="in the loop"), a, b, c)
    np.testing.assert_array_equal(c, product(a, b.T))
    assert set(waits(kernel)[:-1]) == {1}
    assert waits(kernel)[-1] == 0
    assert "setp.eq.b32 p," in kernel.ptx


def test_products_of_one_accumulator_follow_each_other() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((64, 128), "float16"),
        B: T.Tensor((64, 128), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 128), "float16")
            b = T.alloc_shared((64, 128), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a[:, 0:64], b[:, 0:64], c, transpose_B=True)
            T.gemm(a[:, 64:128], b[:, 64:128], c, transpose_B=True)
            T.copy(c, C)

    a, b, c = numbers(1, 64, 128), numbers(2, 64, 128), np.zeros((64, 64), "float32")
    kernel = run(main, a, b, c)
    np.testing.assert_array_equal(c, product(a, b.T))
    assert waits(kernel) == [0]


def test_a_wait_leaves_younger_products_open() -> None:
    """The first result is read while the second product runs."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 64), "float16"),
        B: T.Tensor((64, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
        D: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            d = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, clear_accum=True)
            T.gemm(b, a, d, clear_accum=True)
            T.copy(c, C)
            T.copy(d, D)

    a, b = numbers(1, 64, 64), numbers(2, 64, 64)
    c, d = np.zeros((64, 64), "float32"), np.zeros((64, 64), "float32")
    kernel = run(main, a, b, c, d)
    np.testing.assert_array_equal(c, product(a, b))
    np.testing.assert_array_equal(d, product(b, a))
    assert waits(kernel) == [1, 0]


def test_a_tile_is_written_again_after_its_product() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((3, 64, 64), "float16"),
        B: T.Tensor((64, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(B, b)
            T.clear(c)
            for i in T.serial(3):
                T.copy(A[i, 0, 0], a)
                T.gemm(a, b, c)
            T.copy(c, C)

    a, b, c = numbers(1, 3, 64, 64), numbers(2, 64, 64), np.zeros((64, 64), "float32")
    run(main, a, b, c)
    np.testing.assert_array_equal(c, product(a.sum(0), b))


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_attention(stages: int) -> None:
    """P stays in registers; the sums are scaled between products of different iterations."""
    rows, tile, heads, trips = 128, 64, 64, 3

    @T.prim_func
    def main(
        Q: T.Tensor((rows, heads), "float16"),
        K: T.Tensor((trips * tile, heads), "float16"),
        V: T.Tensor((trips * tile, heads), "float16"),
        O: T.Tensor((rows, heads), "float32"),  # noqa: E741
    ):
        with T.Kernel(1, threads=256):
            q = T.alloc_shared((rows, heads), "float16")
            k = T.alloc_shared((tile, heads), "float16")
            v = T.alloc_shared((tile, heads), "float16")
            scores = T.alloc_fragment((rows, tile), "float32")
            cast = T.alloc_fragment((rows, tile), "float16")
            out = T.alloc_fragment((rows, heads), "float32")
            T.copy(Q, q)
            T.clear(out)
            for i in T.Pipelined(trips, num_stages=stages):
                T.copy(K[i * tile, 0], k)
                T.gemm(q, k, scores, transpose_B=True, clear_accum=True)
                for x, y in T.Parallel(rows, tile):
                    scores[x, y] = T.max(scores[x, y], 0)
                T.copy(scores, cast)
                for x, y in T.Parallel(rows, heads):
                    out[x, y] *= 0.5
                T.copy(V[i * tile, 0], v)
                T.gemm(cast, v, out)
            T.copy(out, O)

    q, k, v = (
        numbers(1, rows, heads),
        numbers(2, trips * tile, heads),
        numbers(3, trips * tile, heads),
    )
    result = np.zeros((rows, heads), np.float32)
    run(main, q, k, v, result)
    expected = np.zeros((rows, heads), np.float32)
    for i in range(trips):
        part = slice(i * tile, (i + 1) * tile)
        expected = expected * 0.5 + product(np.maximum(product(q, k[part].T), 0), v[part])
    np.testing.assert_array_equal(result, expected)


def test_products_in_branches() -> None:
    """A product ends with its branch: where branches join, registers are moved. ptxas serialises
    products of sums that only one branch has touched (C7511)."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 64), "float16"),
        B: T.Tensor((64, 64), "float16"),
        C: T.Tensor((4, 64, 64), "float32"),
    ):
        with T.Kernel(4, threads=128) as bx:
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            if bx % 2 == 0:
                T.gemm(a, b, c)
            if bx >= 2:
                T.gemm(a, b, c, transpose_B=True)
            else:
                T.gemm(b, a, c)
            T.copy(c, C[bx, 0, 0])

    a, b, c = numbers(1, 64, 64), numbers(2, 64, 64), np.zeros((4, 64, 64), "float32")
    kernel = run(main, a, b, c, may_serialise=True)
    assert waits(kernel) == [0, 0, 0]
    for block in range(4):
        expected = product(a, b) * (block % 2 == 0)
        expected += product(a, b.T) if block >= 2 else product(b, a)
        np.testing.assert_array_equal(c[block], expected)


def test_fragments_of_one_iteration() -> None:
    """A product that holds a fragment of an iteration ends with it."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 64), "float16"),
        B: T.Tensor((64, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            total = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(total)
            for i in T.serial(3):
                c = T.alloc_fragment((64, 64), "float32")
                T.gemm(a, b, c, clear_accum=True)
                if i > 0:
                    for x, y in T.Parallel(64, 64):
                        total[x, y] += c[x, y]
            T.copy(total, C)

    a, b, c = numbers(1, 64, 64), numbers(2, 64, 64), np.zeros((64, 64), "float32")
    run(main, a, b, c)
    np.testing.assert_array_equal(c, 2 * product(a, b))


def test_run_time_shapes() -> None:
    m, n, k = T.symbolic("m"), T.symbolic("n"), T.symbolic("k")

    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((k, n), "float16"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, 32), num_stages=3):
                T.copy(A[by * 64, i * 32], a)
                T.copy(B[i * 32, bx * 64], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 64, bx * 64])

    kernel = tilewright.compile(main, device=DEVICE)
    for rows, columns, depth in [(64, 64, 32), (80, 48, 96), (100, 72, 200), (64, 64, 0)]:
        a, b = numbers(1, rows, depth), numbers(2, depth, columns)
        c = np.full((rows, columns), 7, np.float32)
        kernel(a, b, c)
        np.testing.assert_array_equal(c, product(a, b))
        assert not kernel.findings


@pytest.mark.parametrize(("left", "right"), [("int8", "uint8"), ("uint8", "int8")])
def test_mixed_signs(left: str, right: str) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((192, 64), left), B: T.Tensor((32, 64), right), C: T.Tensor((192, 32), "int32")
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((192, 64), left)
            b = T.alloc_shared((32, 64), right)
            c = T.alloc_fragment((192, 32), "int32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    rng = np.random.default_rng(4)
    a, b = (
        rng.integers(np.iinfo(t).min, np.iinfo(t).max + 1, shape).astype(t)
        for t, shape in ((left, (192, 64)), (right, (32, 64)))
    )
    c = np.zeros((192, 32), np.int32)
    run(main, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32).T)


@pytest.mark.parametrize("loop", [T.unroll, T.serial])
@pytest.mark.parametrize("mode", ["", "late"])
def test_loops_over_parts_of_operands(loop, mode, monkeypatch) -> None:
    """As in TileLang's flashmla: a product whose K is done in pieces of both tiles."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)

    @T.prim_func
    def main(
        A: T.Tensor((64, 256), "float16"),
        B: T.Tensor((64, 256), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 256), "float16")
            b = T.alloc_shared((64, 256), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            for j in loop(4):
                T.gemm(
                    a[:, j * 64 : (j + 1) * 64],
                    b[:, j * 64 : (j + 1) * 64],
                    c,
                    transpose_B=True,
                    clear_accum=(j == 0),
                )
            T.copy(c, C)

    rng = np.random.default_rng(4)
    a, b = (rng.integers(-3, 4, (64, 256)).astype(np.float16) for _ in range(2))
    c = np.full((64, 64), np.nan, np.float32)
    kernel = run(main, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert kernel.ptx.count("wgmma.mma_async") == 16
    assert "mma.sync" not in kernel.ptx


@pytest.mark.parametrize("start", [0, 1, 3])
def test_operands_are_parts_of_tiles(start: int) -> None:
    """Rows of a larger tile, a part of a tile of three dimensions at a run-time index, M = 192."""

    @T.prim_func
    def main(
        A: T.Tensor((256, 64), "float16"),
        B: T.Tensor((4, 64, 64), "float16"),
        C: T.Tensor((192, 64), "float32"),
        D: T.Tensor((4, 64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((256, 64), "float16")
            b = T.alloc_shared((4, 64, 64), "float16")
            c = T.alloc_fragment((192, 64), "float32")
            d = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a[64:256, :], b[start, :, :], c, clear_accum=True)
            T.copy(c, C)
            for i in T.serial(4):
                T.gemm(a[0:64, :], b[i, :, :], d, transpose_B=True, clear_accum=True)
                T.copy(d, D[i, 0, 0])

    a, b = numbers(1, 256, 64), numbers(2, 4, 64, 64)
    c, d = np.zeros((192, 64), "float32"), np.zeros((4, 64, 64), "float32")
    run(main, a, b, c, d)
    np.testing.assert_array_equal(c, product(a[64:], b[start]))
    for i in range(4):
        np.testing.assert_array_equal(d[i], product(a[:64], b[i].T))


def transposed_result(m, n, k, dtype, accum, threads, transpose_a, transpose_b):
    a_shape, b_shape = (k, m) if transpose_a else (m, k), (n, k) if transpose_b else (k, n)

    @T.prim_func
    def main(A: T.Tensor(a_shape, dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((m, n), accum)):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared(a_shape, dtype)
            b = T.alloc_shared(b_shape, dtype)
            c = T.alloc_fragment((m, n), accum)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(C, c)
            T.gemm(a, b, c, transpose_A=transpose_a, transpose_B=transpose_b)
            T.copy(c, C)

    return main


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype", "accum", "threads", "transposed", "shape"),
    [
        (32, 128, 128, "float16", "float32", 256, (True, False), "m64n32k16"),  # the seed's dQ
        (32, 64, 64, "float16", "float32", 128, (False, True), "m64n32k16"),
        (8, 64, 32, "float16", "float32", 128, (False, True), "m64n8k16"),
        (16, 128, 64, "float16", "float32", 128, (False, False), "m64n16k16"),
        (40, 192, 64, "bfloat16", "float32", 128, (False, True), "m64n40k16"),
        (96, 64, 64, "float16", "float16", 128, (True, True), "m64n96k16"),
        (32, 128, 64, "int8", "int32", 256, (False, True), "m64n32k32"),
    ],
)
def test_few_rows_are_computed_as_the_transpose(
    m, n, k, dtype, accum, threads, transposed, shape
) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    rng = np.random.default_rng(5)
    a, b = rng.integers(-2, 3, (m, k)), rng.integers(-2, 3, (k, n))
    c = rng.integers(-2, 3, (m, n)).astype(accum)
    expected = c.astype(np.int64) + a @ b
    stored = [
        np.ascontiguousarray(x.T if t else x).astype(kind)
        for x, t in zip((a, b), transposed, strict=True)
    ]
    kernel = run(transposed_result(m, n, k, dtype, accum, threads, *transposed), *stored, c)
    np.testing.assert_array_equal(c.astype(np.int64), expected)
    assert shape in kernel.ptx
    assert any("transposed, B from shared memory" in r.message for r in kernel.remarks)


def test_half_sums_round_within_their_radius() -> None:
    """float16 sums of values that do not add up exactly: within the error that the order of the sum
    may cause."""
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((64, 128)).astype(np.float16) for _ in range(2))
    c = np.zeros((64, 64), np.float16)
    run(transposed_result(64, 64, 128, "float16", "float16", 128, False, True), a, b, c)
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    magnitude = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)).T
    assert np.all(np.abs(c - exact) <= 128 * 2.0**-11 * magnitude)
    assert np.any(c != exact)


def float8(m, n, k, block_k, threads, transpose_b=True):
    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float8_e4m3"),
        B: T.Tensor((n, k), "float8_e5m2"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared((m, block_k), "float8_e4m3")
            b = T.alloc_shared((n, block_k), "float8_e5m2")
            c = T.alloc_fragment((m, n), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, block_k), num_stages=2):
                T.copy(A[0, i * block_k], a)
                T.copy(B[0, i * block_k], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    return main


@pytest.mark.parametrize(
    ("m", "n", "k", "block_k", "threads", "shape"),
    [
        (128, 128, 256, 128, 256, "m64n128k32"),
        (64, 64, 96, 32, 128, "m64n64k32"),
        (64, 32, 512, 256, 128, "m64n32k32"),  # two partial sums a tile
        (128, 256, 128, 128, 256, "m64n128k32"),  # 256 columns leave no room for partial sums
        (32, 64, 128, 64, 128, "m64n32k32"),  # as the transpose
    ],
)
def test_sums_of_float8_are_promoted(m, n, k, block_k, threads, shape) -> None:
    rng = np.random.default_rng(9)
    a = rng.integers(-2, 3, (m, k)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.integers(-2, 3, (n, k)).astype(ml_dtypes.float8_e5m2)
    c = np.zeros((m, n), np.float32)
    kernel = run(float8(m, n, k, block_k, threads), a, b, c)
    np.testing.assert_array_equal(c, product(a, b.astype(np.float32).T))
    assert shape in kernel.ptx
    assert any("partial sums added in float32 every 128 of K" in r.message for r in kernel.remarks)
    assert "add.rn.f32" in kernel.ptx


def test_tfloat32_says_why_it_stays() -> None:
    function = transposed_result(64, 64, 32, "tfloat32", "float32", 128, False, True)
    kernel = tilewright.compile(function, device=DEVICE)
    assert "wgmma" not in kernel.ptx
    assert any("still to be rounded" in remark.message for remark in kernel.remarks)


@pytest.mark.parametrize(
    ("m", "n", "threads", "count"),
    [
        (64, 64, 128, 4),
        (128, 32, 128, 4),
        (128, 32, 256, 2),
        (64, 24, 128, 0),  # three matrices
        (32, 64, 128, 0),  # the transpose: lanes hold columns
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_fragments_go_to_shared_memory_by_rows(m, n, threads, count, dtype) -> None:
    """stmatrix where four lanes hold 16 bytes that lie next to each other; else pairs."""

    @T.prim_func
    def main(A: T.Tensor((m, 64), dtype), B: T.Tensor((n, 64), dtype), C: T.Tensor((m, n), dtype)):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared((m, 64), dtype)
            b = T.alloc_shared((n, 64), dtype)
            c = T.alloc_fragment((m, n), "float32")
            staged = T.alloc_shared((m, n), dtype)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, staged)
            T.copy(staged, C)

    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a, b = numbers(1, m, 64, dtype=kind), numbers(2, n, 64, dtype=kind)
    c = np.zeros((m, n), kind)
    kernel = run(main, a, b, c)
    np.testing.assert_array_equal(c, product(a, b.astype(np.float32).T).astype(kind))
    assert kernel.ptx.count("stmatrix.sync.aligned.m8n8.x4.shared.b16") == count


@pytest.mark.parametrize("passes", [0, 2])
def test_a_loop_that_updates_what_it_stores_stores_pairs(passes) -> None:
    """stmatrix wrote for one lane what another lane of the warp read and wrote in the same loop,
    with nothing between them; seen in the forward kernel of Mamba-3."""

    @T.prim_func
    def main(A: T.Tensor((32, 32), "float16"), G: T.Tensor((8,), "float32"),
             B: T.Tensor((8, 4, 32), "float16")):  # fmt: skip
        with T.Kernel(1, threads=128):
            sums = T.alloc_shared((8, 4, 32), "float16")
            T.clear(sums)
            for i, j, k in T.Parallel(8, 4, 32):
                for row in T.serial(passes):
                    sums[i, j, k] += A[i * 4 + row, k]
                sums[i, j, k] = (sums[i, j, k] + 1) * G[i]
            T.copy(sums, B)

    a, g = numbers(1, 32, 32), np.arange(8, dtype=np.float32)
    b = np.zeros((8, 4, 32), np.float16)
    kernel = tilewright.compile(main, device=DEVICE)
    kernel(a, g, b)
    assert kernel.findings == []
    summed = a.reshape(8, 4, 1, 32)[:, :passes].sum(axis=1, dtype=np.float16)
    expected = (summed.astype(np.float32) + 1) * g[:, None, None]
    np.testing.assert_array_equal(b, np.broadcast_to(expected, (8, 4, 32)).astype(np.float16))


def produced(stages, block_k=64):
    """A gemm whose copies a producer issues; how many iterations it has is an argument."""

    @T.prim_func
    def main(A: T.Tensor((128, 512), "float16"), B: T.Tensor((64, 512), "float16"),
             N: T.Tensor((1,), "int32"), C: T.Tensor((128, 64), "float32")):  # fmt: skip
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((128, block_k), "float16")
            b = T.alloc_shared((64, block_k), "float16")
            c = T.alloc_fragment((128, 64), "float32")
            T.clear(c)
            for i in T.Pipelined(N[0], num_stages=stages):
                T.copy(A[0, i * block_k], a)
                T.copy(B[0, i * block_k], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    return main


def remarks(kernel) -> str:
    return "\n".join(str(remark) for remark in kernel.remarks)


@pytest.mark.parametrize("stages", [3, 4])
def test_a_version_is_released_after_the_next_product_has_begun(stages: int) -> None:
    a, b = numbers(1, 128, 512), numbers(2, 64, 512)
    kernel = tilewright.compile(produced(stages), device=DEVICE)
    for trips in range(6):
        c = np.full((128, 64), np.nan, "float32")
        kernel(a, b, np.array([trips], "int32"), c)
        part = slice(0, 64 * trips)
        np.testing.assert_array_equal(c, product(a[:, part], b[:, part].T))
        assert not kernel.findings
    assert waits(kernel) == [1, 0]
    assert "the product of 'c' runs beside the next iteration" in remarks(kernel)
    assert "(C75" not in words_of_ptxas(kernel)


def test_two_versions_are_released_at_once() -> None:
    kernel = tilewright.compile(produced(2), device=DEVICE)
    assert set(waits(kernel)) == {0}
    assert "two stages leave the copies no version to run ahead into" in remarks(kernel)


def test_a_result_that_the_iteration_uses_ends_the_product() -> None:
    @T.prim_func
    def main(A: T.Tensor((128, 512), "float16"), C: T.Tensor((128, 128), "float32")):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            total = T.alloc_fragment((128, 128), "float32")
            T.clear(total)
            for i in T.Pipelined(8, num_stages=3):
                T.copy(A[0, i * 64], a)
                T.gemm(a, a, c, transpose_B=True, clear_accum=True)
                for y, x in T.Parallel(128, 128):
                    total[y, x] += c[y, x]
            T.copy(total, C)

    a, c = numbers(1, 128, 512), np.zeros((128, 128), "float32")
    kernel = run(main, a, c)
    np.testing.assert_array_equal(c, product(a, a.T))
    assert set(waits(kernel)) == {0}
    assert "the iteration uses its result" in remarks(kernel)


@pytest.mark.parametrize("inner", [0, 1, 2, 4])
def test_rounds_of_a_loop_release_their_last_version(inner: int) -> None:
    """The next round's copies wait for it."""

    @T.prim_func
    def main(A: T.Tensor((4 * 128, 256), "float16"), N: T.Tensor((1,), "int32"),
             C: T.Tensor((4 * 128, 128), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((128, 64), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            for r in T.serial(4):
                T.clear(c)
                if r != 1:
                    for k in T.Pipelined(N[0], num_stages=3):
                        T.copy(A[r * 128, k * 64], a)
                        T.gemm(a, a, c, transpose_B=True)
                T.copy(c, C[r * 128, 0])

    a, c = numbers(1, 512, 256), np.full((512, 128), np.nan, "float32")
    kernel = run(main, a, np.array([inner], "int32"), c)
    for r in range(4):
        part = a[r * 128 : r * 128 + 128, : 64 * inner * (r != 1)]
        np.testing.assert_array_equal(c[r * 128 : r * 128 + 128], product(part, part.T))
    assert 1 in waits(kernel)


def attention(causal, keys, rows=128, block=64, dim=64, stages=2):
    """As TileLang's example has it; weights are powers of two, so that every sum is exact."""

    @T.prim_func
    def main(Q: T.Tensor((rows, dim), "float16"), K: T.Tensor((keys, dim), "float16"),
             V: T.Tensor((keys, dim), "float16"), N: T.Tensor((1,), "int32"),
             O: T.Tensor((rows, dim), "float32")):  # fmt: skip
        with T.Kernel(1, threads=256):
            q = T.alloc_shared((rows, dim), "float16")
            k = T.alloc_shared((block, dim), "float16")
            v = T.alloc_shared((block, dim), "float16")
            s = T.alloc_fragment((rows, block), "float32")
            p = T.alloc_fragment((rows, block), "float16")
            o = T.alloc_fragment((rows, dim), "float32")
            highest = T.alloc_fragment((rows,), "float32")
            before = T.alloc_fragment((rows,), "float32")
            T.copy(Q, q)
            T.clear(o)
            T.fill(highest, -T.infinity("float32"))
            for i in T.Pipelined(N[0], num_stages=stages):
                T.copy(K[i * block, 0], k)
                if causal:
                    for y, x in T.Parallel(rows, block):
                        s[y, x] = T.if_then_else(
                            y + keys - rows >= i * block + x, 0, -T.infinity("float32")
                        )
                else:
                    T.clear(s)
                T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(highest, before)
                T.reduce_max(s, highest, dim=1, clear=False)
                for y, x in T.Parallel(rows, block):
                    s[y, x] = T.exp2(s[y, x] - highest[y])
                T.copy(s, p)
                for y, x in T.Parallel(rows, dim):
                    o[y, x] *= T.exp2(before[y] - highest[y])
                T.copy(V[i * block, 0], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            T.copy(o, O)

    return main


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("stages", [2, 3])
def test_the_last_product_of_attention_runs_beside_the_next_softmax(causal, stages) -> None:
    rng = np.random.default_rng(3)
    q = np.zeros((128, 64), "float16")
    q[np.arange(128), rng.integers(0, 64, 128)] = 1
    k, v = (rng.integers(-3, 4, (320, 64)).astype("float16") for _ in range(2))
    kernel = tilewright.compile(attention(causal, 320, stages=stages), device=DEVICE)
    for trips in range(6):
        o = np.full((128, 64), np.nan, "float32")
        kernel(q, k, v, np.array([trips], "int32"), o)
        scores = product(q, k[: 64 * trips].T).astype("float64")
        if causal:
            y, x = np.ogrid[:128, : 64 * trips]
            scores = np.where(y + 192 >= x, scores, -np.inf)
        weights = np.exp2(scores - scores.max(1, keepdims=True, initial=-1e9))
        np.testing.assert_array_equal(o, weights @ v[: 64 * trips].astype("float64"))
        assert not kernel.findings
    # S is waited for with P V open, then P V in front of what touches O and P.
    assert 1 in waits(kernel)
    assert "the product of 'o' runs beside the next iteration" in remarks(kernel)
    # Tiles below the mask's edge run in a loop without it; trips end before, at and after it.
    assert ("tiles that the mask lets through whole" in remarks(kernel)) == causal
    assert "(C75" not in words_of_ptxas(kernel)


@pytest.mark.parametrize("test", ["y + 64 >= x", "x <= y + 64", "x < y + 65", "not y + 64 < x"])
def test_masks_in_other_words(test: str) -> None:
    """However the test is written, the loop is split where it can first fail, or not at all."""
    tests = {
        "y + 64 >= x": lambda y, x: y + 64 >= x,
        "x <= y + 64": lambda y, x: x <= y + 64,
        "x < y + 65": lambda y, x: x < y + 65,
        "not y + 64 < x": lambda y, x: T.Not(y + 64 < x),
    }
    allows = tests[test]

    @T.prim_func
    def main(A: T.Tensor((256, 64), "float16"), K: T.Tensor((256, 64), "float16"),
             C: T.Tensor((256, 64), "float32")):  # fmt: skip
        with T.Kernel(2, threads=256) as bx:
            a = T.alloc_shared((128, 64), "float16")
            k = T.alloc_shared((64, 64), "float16")
            s = T.alloc_fragment((128, 64), "float32")
            c = T.alloc_fragment((128, 64), "float32")
            T.copy(A[bx * 128, 0], a)
            T.clear(c)
            for i in T.Pipelined(4, num_stages=2):
                T.copy(K[i * 64, 0], k)
                T.gemm(a, k, s, transpose_B=True, clear_accum=True)
                for y, x in T.Parallel(128, 64):
                    c[y, x] += T.if_then_else(allows(bx * 128 + y, i * 64 + x), s[y, x], 1.0)
            T.copy(c, C[bx * 128, 0])

    a, k, c = numbers(1, 256, 64), numbers(2, 256, 64), np.zeros((256, 64), "float32")
    kernel = run(main, a, k, c)
    y, x = np.ogrid[:256, :256]
    scores = np.where(x <= y + 64, product(a, k.T), 1.0)
    np.testing.assert_array_equal(c, scores.reshape(256, 4, 64).sum(1))
    if test != "not y + 64 < x":
        assert "tiles that the mask lets through whole" in remarks(kernel)


def test_a_product_of_a_branch_ends_before_the_branches_join() -> None:
    """Found by the kind `pipelines` of random programs, seed 700006: where branches join, registers
    are moved, and a product of the branch still held them."""

    @T.prim_func
    def main(
        A: T.Tensor((128, 192), "float16"),
        B: T.Tensor((32, 192), "float16"),
        N: T.Tensor((1,), "int32"),
        C: T.Tensor((128, 32), "float32"),
        S: T.Tensor((128, 64), "float32"),
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((32, 64), "float16")
            left = T.alloc_fragment((128, 64), "float16")
            c = T.alloc_fragment((128, 32), "float32")
            s = T.alloc_fragment((128, 64), "float32")
            T.annotate_layout({a: T.Layout((128, 64), lambda i, j: [i * 72 + j])})
            T.clear(c)
            T.clear(s)
            for k in T.Pipelined(N[0], num_stages=3):
                T.copy(A[0, k * 64], a)
                T.copy(B[0, k * 64], b)
                T.copy(a, left)
                if k > 0:
                    T.gemm(left, b, c, transpose_B=True)
                for i, j in T.Parallel(128, 64):
                    s[i, j] += T.cast(a[i, j], "float32")
            T.copy(c, C)
            T.copy(s, S)

    a, b = numbers(0, 128, 192), numbers(1, 32, 192)
    c, s = np.zeros((128, 32), np.float32), np.zeros((128, 64), np.float32)
    run(main, a, b, np.array([3], np.int32), c, s)
    np.testing.assert_array_equal(c, product(a[:, 64:], b[:, 64:].T))
    np.testing.assert_array_equal(s, a.astype(np.float32).reshape(128, 3, 64).sum(1))


@pytest.mark.parametrize("early", [1, 2])
def test_early_iterations_are_not_written_in_front_of_the_loop(early: int) -> None:
    """LLVM peeled the iterations that a condition tells apart, each with an exit of its own: the
    sums went into other registers before the wait, which stands where the ways meet."""
    n = T.dynamic("n")

    @T.prim_func
    def main(
        A: T.Tensor((n, 64, 64), "float16"), B: T.Tensor((64, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):  # fmt: skip
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(B, b)
            T.clear(c)
            T.clear(a)
            for k in T.Pipelined(n, num_stages=2):
                if k < early:
                    T.copy(A[k, 0:64, 0:64], a)
                T.gemm(a, b, c)
            T.copy(c, C)

    b = numbers(0, 64, 64)
    for rows in (1, 2, 3, 7):
        a = numbers(1, rows, 64, 64)
        c = np.zeros((64, 64), np.float32)
        run(main, a, b, c)
        copied = sum(a[min(k, early - 1)].astype(np.float32) for k in range(rows))
        np.testing.assert_array_equal(c, copied @ b.astype(np.float32))
