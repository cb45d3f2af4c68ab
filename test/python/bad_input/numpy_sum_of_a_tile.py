"""numpy cannot sum a tile."""

import numpy as np
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = np.sum(A)


# --- report ---
# numpy_sum_of_a_tile.py:10:16: error: 'np.sum' runs in Python and cannot take a value of the kernel; use T.reduce_sum
#    10 |         A[0] = np.sum(A)
#       |                ^^^^^^^^^
