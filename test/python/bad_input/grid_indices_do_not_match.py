"""Two names for a grid of one extent."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(8) as (bx, by):
        A[bx] = 1.0


# --- report ---
# grid_indices_do_not_match.py:8:25: error: 2 names for 1 block index
#     8 |     with T.Kernel(8) as (bx, by):
#       |                         ^^^^^^^^
