"""The bytes of the array are in the other order."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main)(np.zeros(4, ">f4"), 1)


# --- report ---
# call_with_swapped_bytes.py:14:1: error: parameter 'A': the array's bytes are not in native order
#    14 | tilelang.compile(main)(np.zeros(4, ">f4"), 1)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
