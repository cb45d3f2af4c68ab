"""An array of another element type."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = 1

tilelang.compile(main)(np.zeros(8, np.float32))


# --- report ---
# call_with_wrong_dtype.py:13:1: error: parameter 'A': expected dtype int32, got float32
#    13 | tilelang.compile(main)(np.zeros(8, np.float32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
