"""There is no complex dtype."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main)(np.zeros(4, np.complex64), 1)


# --- report ---
# call_with_complex_numbers.py:14:1: error: parameter 'A': expected a tensor of float32, shape 4, got an array of complex64
#    14 | tilelang.compile(main)(np.zeros(4, np.complex64), 1)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
