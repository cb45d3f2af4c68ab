"""An eager kernel forgets an output."""

import numpy as np
import tilelang
import tilelang.language as T


@tilelang.jit
def double(A):
    N = T.const("N")
    A: T.Tensor[[N], "int32"]
    B = T.empty((N,), "int32")
    with T.Kernel(1):
        for i in T.Parallel(N):
            B[i] = A[i] * 2

double(np.zeros(8, np.int32))


# --- report ---
# eager_output_not_returned.py:9:1: error: the output 'B' of 'double' is not returned
#     9 | def double(A):
#       | ^^^^^^^^^^^^^^
