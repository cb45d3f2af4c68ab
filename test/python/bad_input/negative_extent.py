"""A tile with a negative extent."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((64, -4), "float32")


# --- report ---
# negative_extent.py:9:13: error: T.alloc_shared 's': extent 1 must be positive, got -4
#     9 |         s = T.alloc_shared((64, -4), "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
