"""A Python list cannot change in a loop that runs at run time."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        total = [0]
        for i in T.serial(8):
            total[0] = total[0] + A[i]
            A[i] = total[0]


# --- report ---
# list_changes_in_loop.py:11:13: error: a Python list changes inside the run-time control flow of line 10, but Python changes it once, while tracing; use T.alloc_var or a tile for values that change at run time
#    11 |             total[0] = total[0] + A[i]
#       |             ^^^^^^^^
