"""A tile of no rows."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((0, 4), "float32")


# --- report ---
# tile_without_elements.py:9:13: error: T.alloc_shared 's': extent 0 must be positive, got 0
#     9 |         s = T.alloc_shared((0, 4), "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
