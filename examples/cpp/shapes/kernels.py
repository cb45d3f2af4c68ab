"""Exports one function for three shapes. usage: python kernels.py FOLDER"""

import sys

import tilewright
import tilewright.language as T


@tilewright.jit
def transpose(rows, columns, block=16):
    @T.prim_func
    def transpose(A: T.Tensor((rows, columns), "int32"), B: T.Tensor((columns, rows), "int32")):
        with T.Kernel(T.ceildiv(rows, block), T.ceildiv(columns, block), threads=64) as (bx, by):
            for i, j in T.Parallel(block, block):
                B[by * block + j, bx * block + i] = A[bx * block + i, by * block + j]

    return transpose


tilewright.export_library(
    f"{sys.argv[1]}/shapes", [transpose(16, 16), transpose(32, 48), transpose(7, 100)]
)
