"""An array where a number is expected."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32"), n: T.int32):
    with T.Kernel(1):
        A[0] = n

tilelang.compile(main)(np.zeros(8, np.int32), np.zeros(2, np.int32))


# --- report ---
# call_scalar_with_array.py:13:1: error: parameter 'n': expected a number, got a tensor of shape (2,)
#    13 | tilelang.compile(main)(np.zeros(8, np.int32), np.zeros(2, np.int32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
