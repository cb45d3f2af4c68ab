"""A macro cannot return a value from one branch."""

import tilelang.language as T


@T.macro
def pick(x):
    if x > 0:
        return x
    return 0


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = pick(A[1])


# --- report ---
# macro_returns_from_branch.py:9:9: error: 'return' of a value under a run-time condition; assign the value to a variable in each branch and return it at the end
#     9 |         return x
#       |         ^^^^^^^^
# macro_returns_from_branch.py:16:16: note: called from here
