"""`match` is not known to the rewriter."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        match A[0]:
            case 1:
                A[1] = 1


# --- report ---
# match_in_kernel.py:9:9: error: 'match' is not supported in a kernel; write 'if' and 'elif'
#     9 |         match A[0]:
#       |         ^^^^^^^^^^^
