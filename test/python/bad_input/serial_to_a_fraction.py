"""A loop to two and a half."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.serial(2.5):
            A[i] = 1.0


# --- report ---
# serial_to_a_fraction.py:9:18: error: the end of T.serial must be an integer, got 2.5
#     9 |         for i in T.serial(2.5):
#       |                  ^^^^^^^^^^^^^
