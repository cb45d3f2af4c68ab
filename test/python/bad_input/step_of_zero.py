"""A loop that would never end."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        for i in T.serial(0, 8, 0):
            A[i] = 1.0


# --- report ---
# step_of_zero.py:9:18: error: the step of T.serial must not be 0
#     9 |         for i in T.serial(0, 8, 0):
#       |                  ^^^^^^^^^^^^^^^^^
