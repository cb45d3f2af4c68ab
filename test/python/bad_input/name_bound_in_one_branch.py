"""A name has a value on one path only."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        if A[0] > 0:
            x = A[1]
        A[2] = x


# --- report ---
# name_bound_in_one_branch.py:11:16: error: 'x' has a value only when the 'if' at line 9 goes one way; give it a value before the 'if' or in both branches
#    11 |         A[2] = x
#       |                ^
