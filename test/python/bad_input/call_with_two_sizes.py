"""One symbol with two values."""

import numpy as np
import tilelang
import tilelang.language as T


n = T.dynamic("n")


@T.prim_func
def main(A: T.Tensor((n,), "int32"), B: T.Tensor((n,), "int32")):
    with T.Kernel(1):
        T.copy(A[0:8], B[0:8])

tilelang.compile(main)(np.zeros(8, np.int32), np.zeros(9, np.int32))


# --- report ---
# call_with_two_sizes.py:16:1: error: parameter 'B': dimension 0: expected n = 8 (from 'A' dimension 0), got 9 in shape (9,)
#    16 | tilelang.compile(main)(np.zeros(8, np.int32), np.zeros(9, np.int32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
