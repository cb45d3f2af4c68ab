"""A reduction along a dimension that the tile has not."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64, 64), "float32")
        r = T.alloc_fragment((64,), "float32")
        T.reduce_sum(f, r, dim=2)


# --- report ---
# reduce_dim_out_of_range.py:11:9: error: 'T.reduce_sum': dim 2 is out of range for 'f', which has 2 dimensions
#    11 |         T.reduce_sum(f, r, dim=2)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^
