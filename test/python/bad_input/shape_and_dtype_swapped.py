"""The shape comes first."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        f = T.alloc_fragment("float32", (64, 64))
        T.clear(f)
        T.copy(f, C)

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# shape_and_dtype_swapped.py:11:13: error: T.alloc_fragment 'f': expected a shape such as (64, 128), got 'float32'
#    11 |         f = T.alloc_fragment("float32", (64, 64))
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
