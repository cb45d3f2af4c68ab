"""A number that its parameter cannot hold."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32"), n: T.int8):
    with T.Kernel(1):
        A[0] = n

tilelang.compile(main)(np.zeros(8, np.int32), 300)


# --- report ---
# call_number_too_large.py:13:1: error: parameter 'n': the number 300 does not fit int8
#    13 | tilelang.compile(main)(np.zeros(8, np.int32), 300)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
