"""An argument of the kernel is assigned."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), n: T.int32):
    with T.Kernel(1):
        n = n + 1
        A[0] = n


# --- report ---
# argument_assigned.py:9:9: error: 'n' is an argument of the kernel and cannot be assigned; store into it ('n[...] = ...') or use another name
#     9 |         n = n + 1
#       |         ^
