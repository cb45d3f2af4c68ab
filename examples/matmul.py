"""GEMM: a tiled matrix product, pipelined in three stages.

usage: python examples/matmul.py, or tw run examples/matmul.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


def matmul(M, N, K, block_M=128, block_N=128, block_K=32, stages=3):
    dtype, accum_dtype = "float16", "float32"

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main():
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (256, 128)).astype(np.float16)
    b = rng.integers(-2, 3, (128, 256)).astype(np.float16)
    c = np.zeros((256, 256), np.float16)
    tilelang.compile(matmul(256, 256, 128))(a, b, c)
    error = np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
