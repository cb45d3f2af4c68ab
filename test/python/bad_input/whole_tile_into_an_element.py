"""A tile is assigned to an element."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = A


# --- report ---
# whole_tile_into_an_element.py:9:9: error: stored value: expected a scalar, got a whole tile; index it, or write a 'T.Parallel' loop
#     9 |         A[0] = A
#       |         ^^^^
