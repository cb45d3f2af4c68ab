"""Python's sum does not reduce a tile."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        t = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float32")
        T.clear(f)
        C[0, 0] = sum(f)

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# sum_of_a_tile.py:15:19: error: 'sum' of a whole tile; use T.reduce_sum
#    15 |         C[0, 0] = sum(f)
#       |                   ^^^^^^
