"""A tile whose extent is a float, from / instead of //."""

import tilelang.language as T


N = 128


@T.prim_func
def main(A: T.Tensor((N,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((N / 2,), "float32")


# --- report ---
# float_extent.py:12:13: error: T.alloc_shared 's': extent 0 must be an integer, got 64.0; use // for a division that gives an integer
#    12 |         s = T.alloc_shared((N / 2,), "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
