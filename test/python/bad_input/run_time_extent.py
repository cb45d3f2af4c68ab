"""A tile whose shape is only known at run time."""

import tilelang.language as T


n = T.dynamic("n")


@T.prim_func
def main(A: T.Tensor((n,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((n,), "float32")


# --- report ---
# run_time_extent.py:12:13: error: T.alloc_shared 's': a tile has a fixed shape, n is only known at run time; round it up to a constant and guard the edges
#    12 |         s = T.alloc_shared((n,), "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
