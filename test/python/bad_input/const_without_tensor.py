"""A constant that no tensor determines."""

import numpy as np
import tilelang
import tilelang.language as T


@tilelang.jit
def double(A):
    N, M = T.const("N, M")
    A: T.Tensor[[N], "int32"]
    with T.Kernel(M):
        A[0] = 1

double(np.zeros(8, np.int32))


# --- report ---
# const_without_tensor.py:10:12: error: the constant 'M' is not the extent or a stride of any tensor parameter; pass it to compile(M=...) or make it a parameter of the function
#    10 |     N, M = T.const("N, M")
#       |            ^^^^^^^^^^^^^^^
