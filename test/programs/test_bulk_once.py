"""Bulk copies (TMA) into shared memory outside of pipelined loops, on sm_90a: one barrier for those
that follow each other, a wait in front of the first reader, any nest of loops and branches around
them. Exact, without findings, in both modes of the virtual GPU."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

DEVICE = "vgpu:sm_90a"


@pytest.fixture(params=["", "late"], autouse=True)
def mode(request, monkeypatch):
    """Asynchronous effects happen at once, or not before a wait."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param)
    monkeypatch.setenv("TILEWRIGHT_CHECK", "1")


def numbers(shape, seed=1, dtype=np.float16):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def messages(kernel) -> str:
    return "\n".join(str(remark) for remark in kernel.remarks)


def count_waits(kernel) -> int:
    return kernel.ptx.count("mbarrier.try_wait")


@pytest.mark.parametrize("m, k", [(128, 64), (200, 136), (72, 72)])
def test_copies_that_follow_each_other_share_a_barrier(m: int, k: int) -> None:
    """Rows and columns beyond the tensor are zeros."""

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((m, k), "float16"),
             C: T.Tensor((m, m), "float32")):  # fmt: skip
        with T.Kernel(T.ceildiv(m, 128), T.ceildiv(m, 128), threads=128) as (bx, by):
            a = T.alloc_shared((128, 192), "float16")
            b = T.alloc_shared((128, 192), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.copy(A[by * 128, 0], a)
            T.copy(B[bx * 128, 0], b)
            T.clear(c)
            T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 128, bx * 128])

    kernel = tilewright.compile(main, device=DEVICE)
    a, b = numbers((m, k)), numbers((m, k), 2)
    c = np.full((m, m), np.nan, np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert not kernel.findings
    assert kernel.ptx.count("mbarrier.init") == count_waits(kernel) == 1
    assert "ld.global" not in kernel.ptx
    assert "started by one thread" in messages(kernel)


@pytest.mark.parametrize("trips", [0, 1, 2, 3, 5])
def test_a_copy_of_a_loop_waits_for_its_own_phase(trips: int) -> None:
    @T.prim_func
    def main(A: T.Tensor((5 * 64, 64), "float32"), N: T.Tensor((1,), "int32"),
             C: T.Tensor((64, 64), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for r in T.serial(N[0]):
                T.copy(A[r * 64, 0], s)
                for i, j in T.Parallel(64, 64):
                    c[i, j] += s[j, i]
            T.copy(c, C)

    kernel = tilewright.compile(main, device=DEVICE)
    a = numbers((320, 64), dtype=np.float32)
    c = np.full((64, 64), np.nan, np.float32)
    kernel(a, np.array([trips], np.int32), c)
    np.testing.assert_array_equal(c, a[: 64 * trips].reshape(trips, 64, 64).sum(0).T)
    assert not kernel.findings
    assert "cp.async.bulk" in kernel.ptx


@pytest.mark.parametrize("first", [0, 1])
def test_a_copy_in_a_branch_of_a_loop(first: int) -> None:
    """Its phases count only the times that it ran."""

    @T.prim_func
    def main(A: T.Tensor((7 * 64, 64), "float32"), N: T.Tensor((2,), "int32"),
             C: T.Tensor((64, 64), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for r in T.serial(N[0]):
                if (r + N[1]) % 3 == 0:
                    T.copy(A[r * 64, 0], s)
                    for i, j in T.Parallel(64, 64):
                        c[i, j] += s[j, i]
            T.copy(c, C)

    kernel = tilewright.compile(main, device=DEVICE)
    a = numbers((448, 64), dtype=np.float32)
    c = np.full((64, 64), np.nan, np.float32)
    kernel(a, np.array([7, first], np.int32), c)
    taken = [r for r in range(7) if (r + first) % 3 == 0]
    np.testing.assert_array_equal(c, a.reshape(7, 64, 64)[taken].sum(0).T)
    assert not kernel.findings
    assert "cp.async.bulk" in kernel.ptx


def test_a_tile_that_threads_wrote_before() -> None:
    """Threads write and read it first; the copy comes through another proxy."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            for i, j in T.Parallel(64, 64):
                s[i, j] = i + 64 * j
            for i, j in T.Parallel(64, 64):
                c[i, j] = s[j, i]
            T.copy(A, s)
            for i, j in T.Parallel(64, 64):
                c[i, j] += s[j, i]
            T.copy(c, C)

    kernel = tilewright.compile(main, device=DEVICE)
    a = numbers((64, 64), dtype=np.float32)
    c = np.full((64, 64), np.nan, np.float32)
    kernel(a, c)
    i, j = np.indices((64, 64))
    np.testing.assert_array_equal(c, a.T + (j + 64 * i))
    assert not kernel.findings
    assert "cp.async.bulk" in kernel.ptx and "fence.proxy.async" in kernel.ptx


def test_a_row_needs_no_tensor_map() -> None:
    @T.prim_func
    def main(A: T.Tensor((8, 256), "float32"), C: T.Tensor((8, 256), "float32")):
        with T.Kernel(8, threads=64) as bx:
            s = T.alloc_shared((256,), "float32")
            T.copy(A[bx, 0:256], s)
            for i in T.Parallel(256):
                C[bx, i] = s[255 - i]

    kernel = tilewright.compile(main, device=DEVICE)
    a, c = numbers((8, 256), dtype=np.float32), np.zeros((8, 256), np.float32)
    kernel(a, c)
    np.testing.assert_array_equal(c, a[:, ::-1])
    assert not kernel.findings
    assert "cp.async.bulk.shared" in kernel.ptx


def test_a_tile_that_several_copies_fill_is_copied_by_threads() -> None:
    """Bulk copies would wait for each other."""

    @T.prim_func
    def main(A: T.Tensor((8, 256), "float32"), C: T.Tensor((8, 256), "float32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((8, 256), "float32")
            for r in T.serial(8):
                T.copy(A[r, 0:256], s[7 - r, 0:256])
            T.copy(s, C)

    kernel = tilewright.compile(main, device=DEVICE)
    a, c = numbers((8, 256), dtype=np.float32), np.zeros((8, 256), np.float32)
    kernel(a, c)
    np.testing.assert_array_equal(c, a[::-1])
    assert not kernel.findings
    assert "s: not copied by TMA: no statement after it reads 's' in the same block" in messages(
        kernel
    )


def test_run_time_shapes() -> None:
    m = T.dynamic("m")

    @T.prim_func
    def main(A: T.Tensor((m, 64), "float16"), C: T.Tensor((m, 64), "float16")):
        with T.Kernel(T.ceildiv(m, 32), threads=64) as bx:
            s = T.alloc_shared((32, 64), "float16")
            T.copy(A[bx * 32, 0], s)
            for i, j in T.Parallel(32, 64):
                if bx * 32 + i < m:
                    C[bx * 32 + i, j] = s[i, 63 - j]

    kernel = tilewright.compile(main, device=DEVICE)
    for rows in (1, 31, 32, 100):
        a, c = numbers((rows, 64), rows), np.zeros((rows, 64), np.float16)
        kernel(a, c)
        np.testing.assert_array_equal(c, a[:, ::-1])
        assert not kernel.findings


def test_full_shared_memory_leaves_no_room_for_a_barrier() -> None:
    """The kernel needed all of it before, and still compiles."""
    rows = 232_448 // 512

    @T.prim_func
    def main(A: T.Tensor((rows, 128), "float32"), C: T.Tensor((rows, 128), "float32")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((rows, 128), "float32")
            T.copy(A, s)
            for i, j in T.Parallel(rows, 128):
                C[i, j] = s[rows - 1 - i, j]

    kernel = tilewright.compile(main, device=DEVICE)
    a, c = numbers((rows, 128), dtype=np.float32), np.zeros((rows, 128), np.float32)
    kernel(a, c)
    np.testing.assert_array_equal(c, a[::-1])
    assert "tiles leave no room for a barrier" in messages(kernel)


def test_a_tile_of_bytes_that_atomics_update() -> None:
    """Such a tile starts as zeros, which threads write; the copy comes through another proxy."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "int8"), C: T.Tensor((64, 64), "int8")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "int8")
            T.copy(A, s)
            for i, j in T.Parallel(64, 64):
                T.atomic_add(s[i, j // 2], T.int8(1))
            T.copy(s, C)

    kernel = tilewright.compile(main, device=DEVICE)
    a, c = numbers((64, 64), dtype=np.int8), np.zeros((64, 64), np.int8)
    kernel(a, c)
    a[:, :32] += 2
    np.testing.assert_array_equal(c, a)
    assert not kernel.findings
    assert "cp.async.bulk" in kernel.ptx


def test_a_producer_fills_bytes_that_were_cleared() -> None:
    """The tile of bytes is used after the loop and shares memory with the loop's tiles: the first
    copy of the producer comes after the zeros."""

    @T.prim_func
    def main(A: T.Tensor((64, 512), "float16"), B: T.Tensor((512, 64), "float16"),
             C: T.Tensor((64, 64), "float32"), D: T.Tensor((4096,), "uint8")):  # fmt: skip
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            counts = T.alloc_shared((4096,), "uint8")
            T.clear(c)
            for k in T.Pipelined(8, num_stages=2):
                T.copy(A[0, k * 64], a)
                T.copy(B[k * 64, 0], b)
                T.gemm(a, b, c)
            T.copy(c, C)
            T.fill(counts, T.uint8(3))
            for i in T.Parallel(4096):
                T.atomic_add(counts[i // 2], T.uint8(1))
            T.copy(counts, D)

    kernel = tilewright.compile(main, device=DEVICE)
    a, b = numbers((64, 512)), numbers((512, 64), 2)
    c, d = np.zeros((64, 64), np.float32), np.zeros(4096, np.uint8)
    kernel(a, b, c, d)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    np.testing.assert_array_equal(d, np.repeat([5, 3], 2048))
    assert not kernel.findings
    assert "a producer of 32 threads" in messages(kernel)
    shared_bytes = kernel.summary()["kernels"][0]["gpu"]["shared_bytes"]
    assert shared_bytes < 2 * 2 * 64 * 64 * 2 + 4096  # the tiles share bytes


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_threads_have_waited_before_the_next_copy_arrives(trips: int) -> None:
    """Nothing reads the tile if the inner loop has no iterations, but all threads wait for it in
    front of that loop: a late one missed its phase and waited for ever."""
    n = T.dynamic("n")

    @T.prim_func
    def main(
        Q: T.Tensor((3, 64, 64), "float16"), K: T.Tensor((192, 64), "float16"),
        V: T.Tensor((192, 64), "float16"), N: T.Tensor((n,), "int32"),
        O: T.Tensor((3, 64, 64), "float32"),
    ):  # fmt: skip
        with T.Kernel(1, threads=128):
            q = T.alloc_shared((64, 64), "float16")
            k = T.alloc_shared((64, 64), "float16")
            v = T.alloc_shared((64, 64), "float16")
            s = T.alloc_fragment((64, 64), "float32")
            p = T.alloc_fragment((64, 64), "float16")
            o = T.alloc_fragment((64, 64), "float32")
            for r in T.serial(3):
                T.copy(Q[r, 0:64, 0:64], q)
                T.clear(o)
                for t in T.Pipelined(N[0], num_stages=3):
                    T.copy(K[t * 64, 0], k)
                    T.gemm(q, k, s, transpose_B=True, clear_accum=True)
                    T.copy(V[t * 64, 0], v)
                    for i, j in T.Parallel(64, 64):
                        p[i, j] = T.cast(T.if_then_else(s[i, j] > 0, 1, 0), "float16")
                    T.gemm(p, v, o)
                T.copy(o, O[r, 0:64, 0:64])

    rng = np.random.default_rng(0)
    q = rng.integers(-2, 3, (3, 64, 64)).astype(np.float16)
    k, v = (rng.integers(-2, 3, (192, 64)).astype(np.float16) for _ in range(2))
    signs = (q.astype(np.float32) @ k[: 64 * trips].astype(np.float32).T) > 0
    expected = signs.astype(np.float32) @ v[: 64 * trips].astype(np.float32)
    for device in ("cpu", "vgpu:sm_90a", "vgpu:sm_120"):
        o = np.zeros((3, 64, 64), np.float32)
        kernel = tilewright.compile(
            main, device=device, pass_configs={"tl.disable_warp_specialized": True}
        )
        kernel(q, k, v, np.full(1, trips, np.int32), o)
        assert [found for found in kernel.findings if found["severity"] != "note"] == []
        np.testing.assert_array_equal(o, expected)
