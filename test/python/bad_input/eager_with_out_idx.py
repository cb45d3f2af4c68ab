"""`out_idx` belongs to the lazy form."""

import numpy as np
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[0])
def double(A):
    N = T.const("N")
    A: T.Tensor[[N], "int32"]
    with T.Kernel(1):
        A[0] = 1

double(np.zeros(8, np.int32))


# --- report ---
# eager_with_out_idx.py:15:1: error: 'double' is an eager kernel: 'out_idx' is not allowed; declare outputs with T.empty and return them
#    15 | double(np.zeros(8, np.int32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
