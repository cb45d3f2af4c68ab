"""A quotient with / is a float."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        for i in range(64 / 2):
            C[i, 0] = 1.0

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# range_to_a_fraction.py:11:18: error: 'range' takes integers, got 32.0; a quotient of integers is 'a // b'
#    11 |         for i in range(64 / 2):
#       |                  ^^^^^^^^^^^^^
