"""Tiles are combined element by element."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64,), "float32")
        g = f + 1.0


# --- report ---
# arithmetic_on_whole_tiles.py:10:13: error: '+' of a whole tile; loop over its elements with T.Parallel
#    10 |         g = f + 1.0
#       |             ^^^^^^^
