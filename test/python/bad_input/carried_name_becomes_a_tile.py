"""A loop turns a number into a tile."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        x = 0
        for i in T.serial(4):
            A[i] = x
            x = T.alloc_shared((4,), "float32")


# --- report ---
# carried_name_becomes_a_tile.py:12:13: error: 'x' is carried by a loop as a scalar and cannot become the tile 'x'
#    12 |             x = T.alloc_shared((4,), "float32")
#       |             ^
