"""An integer is wanted, 2.5 is given."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main)(np.zeros(4, np.float32), 2.5)


# --- report ---
# call_with_a_fraction_for_an_integer.py:14:1: error: parameter 'k': expected int32, got a float
#    14 | tilelang.compile(main)(np.zeros(4, np.float32), 2.5)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
