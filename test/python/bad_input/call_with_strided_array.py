"""An array that is not contiguous."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 8), "int32")):
    with T.Kernel(1):
        A[0, 0] = 1

tilelang.compile(main)(np.zeros((8, 16), np.int32)[:, ::2])


# --- report ---
# call_with_strided_array.py:13:1: error: parameter 'A': expected a contiguous (row-major) tensor, got strides (16, 2) for shape (8, 8); pass a contiguous copy
#    13 | tilelang.compile(main)(np.zeros((8, 16), np.int32)[:, ::2])
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
