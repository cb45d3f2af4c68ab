"""A Python list is indexed while tracing, the loop variable is only known later."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        values = [3, 1, 4, 1]
        for i in range(4):
            A[i] = values[i]


# --- report ---
# list_indexed_by_loop_variable.py:11:20: error: this value is only known when the kernel runs, Python cannot use it as an integer; loop over a Python list, or put the values into a tile
#    11 |             A[i] = values[i]
#       |                    ^^^^^^^^^
