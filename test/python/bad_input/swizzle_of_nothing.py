"""A panel of no blocks."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(4, 4):
        T.use_swizzle(0)


# --- report ---
# swizzle_of_nothing.py:9:9: error: panel_size of T.use_swizzle must be a positive int, got 0
#     9 |         T.use_swizzle(0)
#       |         ^^^^^^^^^^^^^^^^
