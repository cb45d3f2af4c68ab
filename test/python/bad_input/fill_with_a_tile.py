"""A tile is filled with another."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.fill(A, A)


# --- report ---
# fill_with_a_tile.py:9:9: error: 'T.fill': the value must be a scalar, got the tile 'A'
#     9 |         T.fill(A, A)
#       |         ^^^^^^^^^^^^
