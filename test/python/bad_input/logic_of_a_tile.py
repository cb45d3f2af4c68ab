"""T.And combines conditions, not tiles."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            if T.And(i < 8, A):
                A[i] = 1


# --- report ---
# logic_of_a_tile.py:10:16: error: 'T.And' needs a scalar condition, got the tile 'A'
#    10 |             if T.And(i < 8, A):
#       |                ^^^^^^^^^^^^^^^
