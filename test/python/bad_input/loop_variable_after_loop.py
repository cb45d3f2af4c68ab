"""The variable of a loop has no value after it."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        for i in T.serial(8):
            A[i] = 0
        A[0] = i


# --- report ---
# loop_variable_after_loop.py:11:16: error: 'i' is the variable of the loop at line 9: no value after it
#    11 |         A[0] = i
#       |                ^
