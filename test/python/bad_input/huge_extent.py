"""A tile that no memory could hold."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((1 << 60,), "float32")


# --- report ---
# huge_extent.py:9:13: error: T.alloc_shared 's': extent 0 is 1152921504606846976, more than the largest allowed 2**48
#     9 |         s = T.alloc_shared((1 << 60,), "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
