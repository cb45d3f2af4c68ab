"""A whole tile has no truth value."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        if A:
            A[0] = 1


# --- report ---
# if_on_a_tile.py:9:12: error: a whole tile has no truth value; index it
#     9 |         if A:
#       |            ^
