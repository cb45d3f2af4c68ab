"""GEMM with roles: one warpgroup loads tiles, another multiplies; barriers hand the tiles over.

Each of the two tiles in flight has a barrier "full" and a barrier "free". `T.ws(n)` is the part of
warpgroup n.

usage: python examples/warp_specialized_matmul.py, or tw run examples/warp_specialized_matmul.py
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def warp_specialized_matmul(M, N, K, block_M=64, block_N=64, block_K=32, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared = T.alloc_shared((2, block_M, block_K), dtype)
            B_shared = T.alloc_shared((2, block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            full = T.alloc_barrier([128, 128])
            free = T.alloc_barrier([128, 128])
            with T.ws(1):
                for k in T.serial(T.ceildiv(K, block_K)):
                    T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
                    T.copy(A[by * block_M, k * block_K], A_shared[k % 2, :, :])
                    T.copy(B[k * block_K, bx * block_N], B_shared[k % 2, :, :])
                    T.barrier_arrive(full[k % 2])
            with T.ws(0):
                T.clear(C_local)
                for k in T.serial(T.ceildiv(K, block_K)):
                    T.barrier_wait(full[k % 2], k // 2 % 2)
                    T.gemm(A_shared[k % 2, :, :], B_shared[k % 2, :, :], C_local)
                    T.barrier_arrive(free[k % 2])
                T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main():
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (128, 160)).astype(np.float16)
    b = rng.integers(-2, 3, (160, 128)).astype(np.float16)
    c = warp_specialized_matmul(128, 128, 160)(a, b)
    error = np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
