"""A shape made of text."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared("64", "float32")


# --- report ---
# tile_of_text.py:9:13: error: T.alloc_shared 's': expected a shape such as (64, 128), got '64'
#     9 |         s = T.alloc_shared("64", "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
