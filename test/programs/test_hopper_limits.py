"""What Hopper cannot do, on sm_90a: each is one error or one remark at the Python line, or other
code that is right; never a hang."""

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
    monkeypatch.setenv("TILEWRIGHT_CHECK", "1")


def gemm(m, n, k, tile=(64, 64, 64), stages=2, threads=128, dtype="float16"):
    bm, bn, bk = tile

    @T.prim_func
    def main(
        A: T.Tensor((m, k), dtype), B: T.Tensor((n, k), dtype), C: T.Tensor((m, n), "float32")
    ):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bn, bk), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, bk), num_stages=stages):
                T.copy(A[by * bm, i * bk], a)
                T.copy(B[bx * bn, i * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * bm, bx * bn])

    return main


def call(kernel, m, n, k, a=None, dtype="float16"):
    """Runs a gemm on small integers, exactly."""
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    rng = np.random.default_rng(3)
    x, y = rng.integers(-3, 4, (m, k)), rng.integers(-3, 4, (n, k))
    if a is None:
        a = np.empty((m, k), kind)
    a[...] = x
    c = np.full((m, n), np.nan, np.float32)
    kernel(a, y.astype(kind), c)
    np.testing.assert_array_equal(c, x @ y.T)
    assert not kernel.findings


def messages(kernel) -> str:
    return "\n".join(str(remark) for remark in kernel.remarks)


def refusal(make, *arguments) -> str:
    """The error of a kernel: when it is traced, when it is compiled, or when it runs."""
    with pytest.raises(tilewright.TilewrightError) as caught:
        tilewright.compile(make(), device=DEVICE)(*arguments)
    text = str(caught.value)
    assert "test_hopper_limits.py:" in text and "internal error" not in text
    return text


def test_a_base_that_is_not_aligned() -> None:
    """Such a call takes code without TMA, which would fault."""
    kernel = tilewright.compile(gemm(64, 64, 128), device=DEVICE)
    call(kernel, 64, 64, 128)
    assert "cp.async.bulk.tensor" in kernel.ptx
    memory = np.zeros(64 * 128 + 8, np.float16)
    call(kernel, 64, 64, 128, memory[1:-7].reshape(64, 128))


def test_extents_of_zero() -> None:
    """No tensor map describes such a tensor; the kernel runs, and sums over nothing are zeros."""
    m, k = T.dynamic("m"), T.dynamic("k")
    kernel = tilewright.compile(gemm(m, 64, k), device=DEVICE)
    for rows, depth in ((0, 64), (64, 0), (5, 0), (0, 0), (64, 128)):
        call(kernel, rows, 64, depth)


def test_strides_that_tma_cannot_do() -> None:
    kernel = tilewright.compile(gemm(64, 64, 100), device=DEVICE)
    call(kernel, 64, 64, 100)
    reason = "a: not copied by TMA: rows of 'A' are not known to start at multiples of 16 bytes"
    assert reason in messages(kernel)


def test_a_tile_that_no_swizzle_fits() -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float16")
            T.annotate_layout({s: T.Layout((64, 64), lambda i, j: [i * 72 + j])})
            T.copy(A, s)
            for i, j in T.Parallel(64, 64):
                C[i, j] = s[j, i]

    kernel = tilewright.compile(main, device=DEVICE)
    a, c = np.arange(4096, dtype=np.float16).reshape(64, 64), np.zeros((64, 64), np.float16)
    kernel(a, c)
    np.testing.assert_array_equal(c, a.T)
    assert "s: not copied by TMA: no swizzle of TMA places elements as the layout of 's' does" in (
        messages(kernel)
    )


def test_sums_that_need_too_many_registers() -> None:
    kernel = tilewright.compile(gemm(256, 512, 64, (256, 512, 64), 1), device=DEVICE)
    assert "'T.gemm' runs on mma.sync: 128 threads have no registers for 256 x 512 sums" in (
        messages(kernel)
    )


def roles(arrivals, number=0):
    """A role writes a tile and arrives once with each of its 128 threads; the other one waits."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=256):
            s = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(arrivals)
            with T.ws(0):
                T.copy(A, s)
                T.barrier_arrive(ready[number])
            with T.ws(1):
                T.barrier_wait(ready[number], 0)
                T.copy(s, C)

    return main


ARRAYS = (np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32))


@pytest.mark.parametrize("count", [1, 129, 256])
def test_arrival_counts_that_do_not_match(count: int) -> None:
    text = refusal(lambda: roles([count]), *ARRAYS)
    assert "this wait is not met: what it waits for comes later or never" in text
    assert "T.barrier_wait(ready[number], 0)" in text


def test_an_arrival_count_of_nothing() -> None:
    text = refusal(lambda: roles([0]))
    assert "'T.alloc_barrier': a count is a positive integer, got 0" in text


def test_too_many_barriers() -> None:
    text = refusal(lambda: roles([128] * 40_000, 39_999))
    assert "kernel needs 336384 bytes of shared memory, sm_90a allows 232448" in text
    assert "'ready' takes 320000 bytes (40000 barriers)" in text


def test_barriers_by_number_end_at_15() -> None:
    def make():
        @T.prim_func
        def main(A: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
            with T.Kernel(1, threads=256):
                s = T.alloc_shared((64, 64), "float32")
                with T.ws(0):
                    T.copy(A, s)
                    T.named_barrier_arrive(16, 256)
                with T.ws(1):
                    T.sync_threads(16, 256)
                    T.copy(s, C)

        return main

    assert "a block has the barriers 0 to 15, got 16" in refusal(make, *ARRAYS)


def test_a_role_that_never_arrives() -> None:
    def make():
        @T.prim_func
        def main(A: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
            with T.Kernel(1, threads=256):
                s = T.alloc_shared((64, 64), "float32")
                ready = T.alloc_barrier(128)
                with T.ws(0):
                    T.copy(A, s)
                with T.ws(1):
                    T.barrier_wait(ready, 0)
                    T.copy(s, C)

        return main

    text = refusal(make, *ARRAYS)
    assert "this wait is not met: what it waits for comes later or never" in text
    assert "T.barrier_wait(ready, 0)" in text


def test_registers_that_a_block_does_not_have() -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=384):
            s = T.alloc_shared((64, 64), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(0):
                T.set_max_nreg(240, 1)
                T.copy(A, s)
                T.barrier_arrive(ready)
            with T.ws(1, 2):
                T.set_max_nreg(240, 1)
                T.barrier_wait(ready, 0)
                T.copy(s, C)

    kernel = tilewright.compile(main, device=DEVICE)
    c = np.zeros((64, 64), np.float32)
    kernel(ARRAYS[0], c)
    np.testing.assert_array_equal(c, 1)
    assert "registers stay as they are" in messages(kernel)
    assert "setmaxnreg" not in kernel.ptx


def test_more_arrivals_than_a_barrier_counts() -> None:
    """Roles take turns, with a counter in place of the mbarrier."""

    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), C: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=256):
            s = T.alloc_shared((64,), "float32")
            ready = T.alloc_barrier(1 << 20)
            with T.ws(0):
                for _ in T.serial(8192):
                    T.barrier_arrive(ready)
                T.copy(A, s)
            with T.ws(1):
                T.barrier_wait(ready, 0)
                T.copy(s, C)

    kernel = tilewright.compile(main, device=DEVICE)
    assert "a barrier of a GPU counts to 1048575" in messages(kernel)
    assert "roles take turns" in messages(kernel)


@pytest.mark.parametrize("statement, message", [
    ("T.set_max_nreg(300, 1)", "a thread has 24 to 256 registers, a multiple of 8, got 300"),
    ("T.set_max_nreg(23, 0)", "a thread has 24 to 256 registers, a multiple of 8, got 23"),
    ("T.annotate_min_blocks_per_sm(0)", "takes a positive number of blocks, got 0"),
    ("T.PersistentTileScheduler(4, 4, 0)", "num_workers of T.PersistentTileScheduler is a"),
    ("T.PersistentTileScheduler(4, 4, 2, swizzle_size=0)", "swizzle_size of T.Persist"),
    ("for i in T.Persistent([4], 0, bx): pass", "wave_size of T.Persistent is positive, got 0"),
])  # fmt: skip
def test_numbers_that_mean_nothing(statement: str, message: str, tmp_path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import tilewright.language as T\n@T.prim_func\n"
        'def main(A: T.Tensor((64,), "float32")):\n'
        f"    with T.Kernel(2, threads=256) as bx:\n        {statement}\n"
    )
    with pytest.raises(tilewright.TilewrightError) as caught:
        exec(compile(file.read_text(), str(file), "exec"), {})
    assert message in str(caught.value) and "program.py:5:" in str(caught.value)


def test_registers_where_no_roles_run_at_once() -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), C: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=128):
            T.set_max_nreg(240, 1)
            T.copy(A, C)

    kernel = tilewright.compile(main, device=DEVICE)
    assert "registers stay as they are: only roles that run at once change them" in messages(kernel)


def test_more_stages_than_memory() -> None:
    text = refusal(lambda: gemm(64, 64, 640, stages=100))
    assert "lower num_stages or a tile" in text and "'a' takes 819200 bytes (100 stages" in text


def test_clusters_that_do_not_divide_the_grid() -> None:
    def make():
        @T.prim_func
        def main(A: T.Tensor((64,), "float32"), C: T.Tensor((64,), "float32")):
            with T.ClusterKernel(3, threads=64, cluster_dims=2):
                for i in T.Parallel(64):
                    C[i] = A[i]

        return main

    text = refusal(make)
    assert "grid extent 0 of T.ClusterKernel is 3, not a multiple of the cluster's 2" in text


@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn", "int8", "float32", "bool"])
def test_slices_and_views_as_destinations(dtype: str) -> None:
    """A part of a tile is filled, whose other parts hold something else."""

    @T.prim_func
    def main(A: T.Tensor((64, 128), dtype), C: T.Tensor((128, 128), dtype)):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((2, 64, 128), dtype)
            T.clear(s)
            T.copy(A, s[1, 0:64, 0:128])
            T.copy(s[0, :, :], C[0:64, :])
            for i, j in T.Parallel(64, 128):
                C[64 + i, j] = s[1, i, 127 - j]

    kernel = tilewright.compile(main, device=DEVICE)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a = np.random.default_rng(0).integers(0, 2, (64, 128)).astype(kind)
    c = np.ones((128, 128), kind)
    kernel(a, c)
    np.testing.assert_array_equal(c[:64], 0)
    np.testing.assert_array_equal(c[64:], a[:, ::-1])
    assert not kernel.findings
    assert "cp.async.bulk" in kernel.ptx or "not copied by TMA" in messages(kernel)


@pytest.mark.parametrize("blocks, tile, reason", [
    (2, (128, 32, 64), ""),
    (2, (128, 128, 64), "a thread needs about 168 registers, and could have 80"),
    (3, (128, 128, 64), "each needs 98"),
    (9, (128, 64, 64), "of 256 threads it takes 8"),
])  # fmt: skip
def test_blocks_on_a_processor(blocks: int, tile, reason: str) -> None:
    """They divide registers and shared memory, or the wish is dropped. With TileLang (2559) roles
    wait for more registers than there are."""
    bm, bn, bk = tile

    @T.prim_func
    def main(
        A: T.Tensor((128, 256), "float16"),
        B: T.Tensor((bn, 256), "float16"),
        C: T.Tensor((128, bn), "float32"),
    ):
        with T.Kernel(1, threads=256):
            T.annotate_min_blocks_per_sm(blocks)
            a = T.alloc_shared((bm, bk), "float16")
            b = T.alloc_shared((bn, bk), "float16")
            c = T.alloc_fragment((bm, bn), "float32")
            d = T.alloc_fragment((bm, bn), "float32")
            T.clear(d)
            for k in T.Pipelined(4, num_stages=3):
                T.copy(A[0, k * 64], a)
                T.copy(B[0, k * 64], b)
                T.clear(c)
                T.gemm(a, b, c, transpose_B=True)
                for i, j in T.Parallel(bm, bn):
                    d[i, j] += c[i, j]
            T.copy(d, C)

    kernel = tilewright.compile(main, device=DEVICE)
    rng = np.random.default_rng(3)
    a = rng.integers(-3, 4, (128, 256)).astype(np.float16)
    b = rng.integers(-3, 4, (bn, 256)).astype(np.float16)
    c = np.zeros((128, bn), np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert not kernel.findings
    assert (f"{blocks} blocks do not fit on a processor: {reason}" in messages(kernel)) == (
        bool(reason)
    )
    assert (f".minnctapersm {blocks}" in kernel.ptx) == (not reason)
    assert kernel.cubin() if find_ptxas() else True
