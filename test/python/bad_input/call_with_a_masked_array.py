"""A kernel does not see the mask."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main)(np.ma.zeros(4, np.float32), 1)


# --- report ---
# call_with_a_masked_array.py:14:1: error: parameter 'A': a kernel does not see the array's mask; pass array.filled(value), or array.data to use all elements
#    14 | tilelang.compile(main)(np.ma.zeros(4, np.float32), 1)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
