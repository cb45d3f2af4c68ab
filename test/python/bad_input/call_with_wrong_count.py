"""Too few arguments at a call."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        T.copy(A, B)

tilelang.compile(main)(np.zeros(8, np.int32))


# --- report ---
# call_with_wrong_count.py:13:1: error: kernel 'main' takes 2 arguments (A, B), got 1
#    13 | tilelang.compile(main)(np.zeros(8, np.int32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
