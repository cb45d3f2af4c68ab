"""A name of Triton says what the language has."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        o = T.arange(0, 64)
        C[0, o] = 1.0

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# indices_of_triton.py:11:13: error: the language has no 'T.arange'; 'for i in T.Parallel(n)' gives the indices
#    11 |         o = T.arange(0, 64)
#       |             ^^^^^^^^
