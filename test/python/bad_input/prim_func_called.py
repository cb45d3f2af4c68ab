"""A prim_func is called without being compiled."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


main(np.zeros(4, np.float32), 1)


# --- report ---
# prim_func_called.py:14:1: error: the prim_func 'main' is not compiled; call tilewright.compile(main) and call the result
#    14 | main(np.zeros(4, np.float32), 1)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
