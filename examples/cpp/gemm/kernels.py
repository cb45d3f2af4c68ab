"""Exports a product of matrices of any shape. usage: python kernels.py FOLDER"""

import sys

import tilewright
import tilewright.language as T


@tilewright.jit
def gemm(block=32):
    M, N, K = T.dynamic("M, N, K")

    @T.prim_func
    def gemm(
        A: T.Tensor((M, K), "float32"),
        B: T.Tensor((K, N), "float32"),
        C: T.Tensor((M, N), "float32"),
        factor: T.float32,
    ):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a = T.alloc_shared((block, block), "float32")
            b = T.alloc_shared((block, block), "float32")
            c = T.alloc_fragment((block, block), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block), num_stages=2):
                T.copy(A[by * block, k * block], a)
                T.copy(B[k * block, bx * block], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(block, block):
                c[i, j] = c[i, j] * factor
            T.copy(c, C[by * block, bx * block])

    return gemm


tilewright.export_library(f"{sys.argv[1]}/gemm", gemm())
