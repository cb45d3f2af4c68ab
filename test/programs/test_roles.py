"""Roles of a program that use barriers run at once on a GPU, on mbarriers, and mean on every engine
what they mean one after another. What no barrier orders is repaired, and told."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

HOPPER = "vgpu:sm_90a"
ON_ALL = pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90", HOPPER])


def run(func, device: str, *arrays: np.ndarray):
    """The kernel, after a run in which nothing was found."""
    kernel = tilewright.compile(func, device=device)
    kernel(*arrays)
    assert kernel.findings == []
    return kernel


@pytest.fixture(params=["", "late"])
def mode(request, monkeypatch):
    """Asynchronous effects happen at once, or not before a wait."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param)


def messages(kernel) -> str:
    return "\n".join(str(remark) for remark in kernel.remarks)


def staged_gemm(trips, versions=2, copy=T.copy, dtype="float16"):
    """A producer and a consumer in one loop, as TileLang's examples write them."""
    k = 64 * trips

    @T.prim_func
    def main(
        A: T.Tensor((64, k), dtype), B: T.Tensor((k, 64), dtype), C: T.Tensor((64, 64), "float32")
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((versions, 64, 64), dtype)
            b = T.alloc_shared((versions, 64, 64), dtype)
            c = T.alloc_fragment((64, 64), "float32")
            full = T.alloc_barrier([128] * versions)
            free = T.alloc_barrier([128] * versions)
            with T.ws(0):
                T.clear(c)
            for i in T.serial(trips):
                with T.ws(1):
                    T.barrier_wait(free[i % versions], (i // versions + 1) % 2)
                    copy(A[:, i * 64 : i * 64 + 64], a[i % versions, :, :])
                    copy(B[i * 64 : i * 64 + 64, :], b[i % versions, :, :])
                    T.barrier_arrive(full[i % versions])
                with T.ws(0):
                    T.barrier_wait(full[i % versions], i // versions % 2)
                    T.gemm(a[i % versions, :, :], b[i % versions, :, :], c)
                    T.barrier_arrive(free[i % versions])
            with T.ws(0):
                T.copy(c, C)

    return main


def operands(trips):
    rng = np.random.default_rng(trips)
    a = rng.integers(-3, 4, (64, 64 * trips)).astype(np.float16)
    b = rng.integers(-3, 4, (64 * trips, 64)).astype(np.float16)
    return a, b


@ON_ALL
@pytest.mark.parametrize("versions", [1, 2, 3])
def test_producer_and_consumer(device: str, versions: int) -> None:
    a, b = operands(5)
    c = np.full((64, 64), np.nan, np.float32)
    run(staged_gemm(5, versions), device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("trips", [1, 2, 4])
@pytest.mark.parametrize("copy", [T.copy, T.tma_copy])
def test_real_instructions(mode, trips: int, copy) -> None:
    """mbarriers and bulk copies; no counter, no assertion, no barrier of the block in the loop."""
    kernel = tilewright.compile(staged_gemm(trips, copy=copy), device=HOPPER)
    a, b = operands(trips)
    c = np.full((64, 64), np.nan, np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert not kernel.findings
    said = messages(kernel)
    assert "2 roles run at once" in said
    assert "a: 1 x cp.async.bulk.tensor.2d of 8192 bytes, started by one thread of its role" in said
    assert "ld.global" not in said and "st.shared" not in said  # as there is none in the code
    assert "mbarrier.try_wait.parity" in kernel.ptx and "wgmma.mma_async" in kernel.ptx
    assert "mbarrier.expect_tx" in kernel.ptx and "cp.async.bulk.tensor" in kernel.ptx
    assert "trap" not in kernel.ptx and "atom" not in kernel.ptx


def test_copies_that_tma_cannot_do_are_the_threads(mode) -> None:
    """Rows that start anywhere: a remark, and loads and stores of the role's threads."""

    @T.prim_func
    def main(A: T.Tensor((64, 65), "float16"), B: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64, 64), "float16")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.tma_copy(A[:, 1:65], x, barrier=ready)
                T.barrier_arrive(ready)
            with T.ws(0):
                T.barrier_wait(ready, 0)
                T.copy(x, B)

    kernel = tilewright.compile(main, device=HOPPER)
    a = np.arange(64 * 65).reshape(64, 65).astype(np.float16)
    b = np.zeros((64, 64), np.float16)
    kernel(a, b)
    np.testing.assert_array_equal(b, a[:, 1:])
    assert not kernel.findings
    assert "not copied by TMA" in messages(kernel)


@ON_ALL
def test_missing_barrier_outside_loops_is_added(device: str) -> None:
    """As in TileLang's multi-head latent attention: the sums of one role are read by another, and
    nothing makes it wait."""

    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((128,), "float32")
            total = T.alloc_shared((128,), "float32")
            ready = T.alloc_barrier(128)
            if tx < 128:
                T.copy(A, x)
                T.barrier_arrive(ready)
                for i in T.Parallel(128):
                    total[i] = x[i] * 2
            else:
                T.barrier_wait(ready, 0)
                for i in T.Parallel(128):
                    B[i] = x[i] + total[i]

    a, b = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    kernel = run(main, device, a, b)
    np.testing.assert_array_equal(b, 3 * a)
    if device == HOPPER:
        assert "TileLang would race here" in messages(kernel)
        assert "2 roles run at once" in messages(kernel)


@ON_ALL
def test_missing_barrier_in_a_loop_makes_roles_take_turns(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((4, 128), "float32"), B: T.Tensor((4, 128), "float32")):
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((128,), "float32")
            ready = T.alloc_barrier(128)
            for k in T.serial(4):
                with T.ws(0):
                    T.copy(A[k, :], x)  # overwrites what the other role may still read
                    T.barrier_arrive(ready)
                with T.ws(1):
                    T.barrier_wait(ready, k % 2)
                    T.copy(x, B[k, :])

    a, b = np.arange(512, dtype=np.float32).reshape(4, 128), np.zeros((4, 128), np.float32)
    kernel = run(main, device, a, b)
    np.testing.assert_array_equal(b, a)
    if device == HOPPER:
        assert "roles take turns instead of running at once" in messages(kernel)


def test_role_that_never_arrives_is_an_error_not_a_hang() -> None:
    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((128,), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(0):
                T.copy(A, x)
            with T.ws(1):
                T.barrier_wait(ready, 0)
                T.copy(x, B)

    kernel = tilewright.compile(main, device=HOPPER)
    with pytest.raises(Exception, match="this wait is not met"):
        kernel(np.zeros(128, np.float32), np.zeros(128, np.float32))
    assert "this wait is never met" in messages(kernel)


@ON_ALL
def test_barriers_by_number(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((128,), "float32")
            if tx < 128:
                T.copy(A, x)
                T.named_barrier_arrive(1, 256)
            else:
                T.sync_threads(1, 256)
                T.copy(x, B)

    a, b = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    kernel = run(main, device, a, b)
    np.testing.assert_array_equal(b, a)
    if device == HOPPER:
        assert "barrier.sync" in kernel.ptx and "barrier.arrive" in kernel.ptx


def three_roles(registers):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((2, 64, 64), "float32")):
        with T.Kernel(1, threads=384):
            tx = T.get_thread_binding()
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            d = T.alloc_fragment((64, 64), "float32")
            ready = T.alloc_barrier(128)
            if tx < 128:
                T.set_max_nreg(registers[0], 1)
                T.barrier_wait(ready, 0)
                T.gemm(a, a, c, clear_accum=True)
                T.copy(c, B[0, :, :])
            elif tx < 256:
                T.set_max_nreg(registers[1], 1)
                T.barrier_wait(ready, 0)
                T.gemm(a, a, d, transpose_B=True, clear_accum=True)
                T.copy(d, B[1, :, :])
            else:
                T.set_max_nreg(registers[2], 0)
                T.copy(A, a)
                T.barrier_arrive(ready)

    return main


@pytest.mark.parametrize("registers", [(240, 168, 80), (240, 240, 240)])
def test_registers_of_roles(mode, registers) -> None:
    """As many as the block has; more would wait for ever."""
    kernel = tilewright.compile(three_roles(registers), device=HOPPER)
    a = np.random.default_rng(0).integers(-3, 4, (64, 64)).astype(np.float16)
    b = np.full((2, 64, 64), np.nan, np.float32)
    kernel(a, b)
    x = a.astype(np.float32)
    np.testing.assert_array_equal(b, [x @ x, x @ x.T])
    assert not kernel.findings
    fits = sum(registers) <= 512
    assert ("setmaxnreg.inc.sync.aligned.u32 \t240" in kernel.ptx) == fits
    assert ("registers stay as they are" in messages(kernel)) == (not fits)


@ON_ALL
def test_operand_of_two_roles_in_a_loop_without_barriers(device: str) -> None:
    """TileLang 2613: all threads copy what both roles read; the next copy comes too early there."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 256), "float16"),
        B: T.Tensor((256, 128), "float16"),
        C: T.Tensor((64, 128), "float32"),
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((64, 32), "float16")
            b0 = T.alloc_shared((32, 64), "float16")
            b1 = T.alloc_shared((32, 64), "float16")
            c0 = T.alloc_fragment((64, 64), "float32")
            c1 = T.alloc_fragment((64, 64), "float32")
            with T.ws(1):
                T.clear(c1)
            with T.ws(0):
                T.clear(c0)
            for k in T.Pipelined(8, num_stages=0):
                T.copy(A[0, k * 32], a)
                with T.ws(1):
                    T.copy(B[k * 32, 64], b1)
                    T.gemm(a, b1, c1)
                with T.ws(0):
                    T.copy(B[k * 32, 0], b0)
                    T.gemm(a, b0, c0)
            with T.ws(1):
                T.copy(c1, C[0, 64])
            with T.ws(0):
                T.copy(c0, C[0, 0])

    rng = np.random.default_rng(1)
    a = rng.integers(-3, 4, (64, 256)).astype(np.float16)
    b = rng.integers(-3, 4, (256, 128)).astype(np.float16)
    c = np.full((64, 128), np.nan, np.float32)
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@ON_ALL
def test_two_blocks_on_a_processor_and_a_pipeline(device: str) -> None:
    """TileLang 2559: the annotation halves the registers of a block; its kernel waits for ever."""

    @T.prim_func
    def main(
        A: T.Tensor((128, 256), "float16"),
        B: T.Tensor((256, 128), "float16"),
        C: T.Tensor((128, 128), "float32"),
    ):
        with T.Kernel(1, threads=128):
            T.annotate_min_blocks_per_sm(2)
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[0, k * 64], a)
                T.copy(B[k * 64, 0], b)
                T.gemm(a, b, c)
            T.copy(c, C)

    rng = np.random.default_rng(2)
    a = rng.integers(-3, 4, (128, 256)).astype(np.float16)
    b = rng.integers(-3, 4, (256, 128)).astype(np.float16)
    c = np.full((128, 128), np.nan, np.float32)
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
