"""None is given for a tensor."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main)(None, 1)


# --- report ---
# call_with_none.py:13:1: error: parameter 'A': the kernel uses it, expected a tensor, got None
#    13 | tilelang.compile(main)(None, 1)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
