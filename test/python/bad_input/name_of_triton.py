"""A name of Triton says what the language has."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        x = T.load(A)
        T.store(C, x)

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# name_of_triton.py:11:13: error: the language has no 'T.load'; read an element as 'A[i, j]', or a tile by T.copy
#    11 |         x = T.load(A)
#       |             ^^^^^^
