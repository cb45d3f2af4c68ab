"""A tile is allocated before any kernel is open."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    s = T.alloc_shared((8,), "float32")
    with T.Kernel(1):
        T.copy(A, s)


# --- report ---
# tile_outside_kernel.py:8:9: error: 'T.alloc_shared' is only allowed inside 'with T.Kernel(...)'
#     8 |     s = T.alloc_shared((8,), "float32")
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
