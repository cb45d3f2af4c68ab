"""A layout made for another shape."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((64, 64), "int32")
        T.annotate_layout({s: T.Layout((32, 64), lambda i, j: [j, i])})


# --- report ---
# layout_of_other_shape.py:10:9: error: layout of shape 32 x 64 on 's' (64 x 64 int32), expected 64 x 64
#    10 |         T.annotate_layout({s: T.Layout((32, 64), lambda i, j: [j, i])})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
