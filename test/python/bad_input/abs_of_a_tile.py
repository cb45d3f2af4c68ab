"""Functions of scalars take elements."""

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
        T.copy(abs(f), C)

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# abs_of_a_tile.py:15:16: error: 'abs' of a whole tile; loop over its elements with T.Parallel
#    15 |         T.copy(abs(f), C)
#       |                ^^^^^^
