"""numpy's exp runs while Python traces, not in the kernel."""

import numpy as np
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            A[i] = np.exp(A[i])


# --- report ---
# numpy_function_of_an_element.py:11:20: error: 'np.exp' runs in Python and cannot take a value of the kernel; use T.exp
#    11 |             A[i] = np.exp(A[i])
#       |                    ^^^^^^^^^^^^
