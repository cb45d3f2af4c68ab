"""A grid of two and a half blocks."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(2.5):
        A[0] = 1.0


# --- report ---
# grid_of_a_fraction.py:8:10: error: grid extent 0 of T.Kernel must be an integer, got 2.5
#     8 |     with T.Kernel(2.5):
#       |          ^^^^^^^^^^^^^
