"""Tensor memory: where a tile lives changes no value, and its products arrive at barriers once."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


def integers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-4, 5, shape).astype(np.float16)


@ON_ALL
def test_product_in_tensor_memory(device: str) -> None:
    """All threads start the product; the barrier for one arrival still counts one."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 96), "float16"),
        B: T.Tensor((64, 96), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((64, 32), "float16")
            c = T.alloc_tmem([64, 64], "float32")
            result = T.alloc_fragment((64, 64), "float32")
            done = T.alloc_barrier(1)
            for k in T.Pipelined(3, num_stages=2):
                T.copy(A[0, k * 32], a)
                T.copy(B[0, k * 32], b)
                T.tcgen05_gemm(a, b, c, transpose_B=True, mbar=done, clear_accum=k == 0)
                T.mbarrier_wait_parity(done, k % 2)
            T.copy(c, result)
            T.copy(result, C)
            T.deallocate_tmem(c)

    a, b, c = integers(64, 96), integers(64, 96), np.zeros((64, 64), np.float32)
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)


@ON_ALL
def test_warps_that_copy_multiply_and_store(device: str) -> None:
    """One role copies, one multiplies and tells both others, thirty-two threads each."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 128), "float16"),
        B: T.Tensor((128, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((2, 64, 32), "float16")
            b = T.alloc_shared((2, 32, 64), "float16")
            c = T.alloc_tmem([64, 64], "float32")
            result = T.alloc_fragment((64, 64), "float32")
            loaded = T.alloc_barrier([32] * 2)
            consumed = T.alloc_barrier([1] * 2)
            full = T.alloc_barrier([1])
            tx = T.get_thread_binding()
            if tx < 32:
                for k in T.serial(4):
                    T.mbarrier_wait_parity(consumed[k % 2], ((k // 2) & 1) ^ 1)
                    T.tma_copy(A[:, k * 32 : k * 32 + 32], a[k % 2, :, :], barrier=loaded[k % 2])
                    T.tma_copy(B[k * 32 : k * 32 + 32, :], b[k % 2, :, :], barrier=loaded[k % 2])
                    T.mbarrier_arrive(loaded[k % 2])
            elif tx < 64:
                for k in T.serial(4):
                    T.mbarrier_wait_parity(loaded[k % 2], (k // 2) & 1)
                    T.tcgen05_gemm(
                        a[k % 2, :, :], b[k % 2, :, :], c, mbar=consumed[k % 2], clear_accum=k == 0
                    )
                T.tcgen05_mma_arrive(full)
            T.mbarrier_wait_parity(full, 0)
            T.copy(c, result)
            T.copy(result, C)

    a, b, c = integers(64, 128), integers(128, 64), np.zeros((64, 64), np.float32)
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_product_of_two_blocks_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="two blocks of a cluster"):

        @T.prim_func
        def main(A: T.Tensor((64, 64), "float16")):
            with T.Kernel(1, threads=128):
                a = T.alloc_shared((64, 64), "float16")
                c = T.alloc_tmem([64, 64], "float32")
                done = T.alloc_barrier(1)
                T.copy(A, a)
                T.tcgen05_gemm(a, a, c, mbar=done, clear_accum=True, use_2cta=True)
