"""GEMM, int8: products of 8-bit integers, summed exactly in int32.

usage: python examples/matmul_int8.py, or tw run examples/matmul_int8.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def matmul_int8(M, N, K, block_M=64, block_N=64, block_K=64):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "int8"), B: T.Tensor((N, K), "int8"), C: T.Tensor((M, N), "int32")
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), "int8")
            B_shared = T.alloc_shared((block_N, block_K), "int8")
            C_local = T.alloc_fragment((block_M, block_N), "int32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main():
    rng = np.random.default_rng(0)
    a = rng.integers(-128, 128, (100, 192)).astype(np.int8)
    b = rng.integers(-128, 128, (72, 192)).astype(np.int8)
    c = matmul_int8(100, 72, 192)(a, b)
    assert (c == a.astype(np.int32) @ b.astype(np.int32).T).all()
    print("equal")


if __name__ == "__main__":
    main()
