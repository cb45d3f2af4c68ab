"""An array of another shape."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 4), "int32")):
    with T.Kernel(1):
        A[0, 0] = 1

tilelang.compile(main)(np.zeros((8, 5), np.int32))


# --- report ---
# call_with_wrong_shape.py:13:1: error: parameter 'A': expected shape (8, 4), got (8, 5) (dimension 1 should be 4)
#    13 | tilelang.compile(main)(np.zeros((8, 5), np.int32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
