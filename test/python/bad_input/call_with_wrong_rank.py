"""An array with another number of dimensions."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = 1

tilelang.compile(main)(np.zeros((1, 8), np.int32))


# --- report ---
# call_with_wrong_rank.py:13:1: error: parameter 'A': expected rank 1, shape (8,), got rank 2, shape (1, 8)
#    13 | tilelang.compile(main)(np.zeros((1, 8), np.int32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
