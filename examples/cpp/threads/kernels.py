"""Exports a sum of rows. usage: python kernels.py FOLDER"""

import sys

import tilewright
import tilewright.language as T


@tilewright.jit
def row_sums(columns=128):
    rows = T.dynamic("rows")

    @T.prim_func
    def row_sums(X: T.Tensor((rows, columns), "float32"), S: T.Tensor((rows,), "float32")):
        with T.Kernel(rows, threads=128) as row:
            x = T.alloc_fragment((1, columns), "float32")
            s = T.alloc_fragment((1,), "float32")
            T.copy(X[row, 0], x)
            T.reduce_sum(x, s, dim=1)
            T.copy(s, S[row])

    return row_sums


tilewright.export_library(f"{sys.argv[1]}/threads", row_sums())
