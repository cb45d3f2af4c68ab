"""The kernel's own check fails."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "int32")):
    with T.Kernel(1):
        for i in T.serial(4):
            assert A[i] >= 0, "negative input"

tilelang.compile(main, device="interp")(np.array([0, 1, -2, 3], np.int32))


# --- report ---
# device_assertion_fails.py:12:13: error: assertion failed: negative input [assert]
#    12 |             assert A[i] >= 0, "negative input"
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
