"""A number is wanted, text is given."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main)(np.zeros(4, np.float32), "1")


# --- report ---
# call_with_text_for_a_number.py:14:1: error: parameter 'k': expected a number for int32, got a Python str
#    14 | tilelang.compile(main)(np.zeros(4, np.float32), "1")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
