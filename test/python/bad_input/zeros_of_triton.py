"""A name of Triton says what the language has."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        acc = T.zeros((64, 64), "float32")
        T.copy(acc, C)

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# zeros_of_triton.py:11:15: error: the language has no 'T.zeros'; use T.alloc_fragment and T.clear
#    11 |         acc = T.zeros((64, 64), "float32")
#       |               ^^^^^^^
