"""A grid has at most three dimensions."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, 1, 1, 1):
        A[0] = 1.0


# --- report ---
# grid_of_four_dimensions.py:8:10: error: T.Kernel takes at most 3 grid extents, got 4
#     8 |     with T.Kernel(1, 1, 1, 1):
#       |          ^^^^^^^^^^^^^^^^^^^^
