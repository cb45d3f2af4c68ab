"""A grid of minus one block."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(-1):
        A[0] = 1.0


# --- report ---
# grid_negative.py:8:10: error: grid extent 0 of T.Kernel must be between 0 and 2**31 - 1, got -1
#     8 |     with T.Kernel(-1):
#       |          ^^^^^^^^^^^^
