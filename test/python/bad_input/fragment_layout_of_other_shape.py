"""A fragment's layout made for another shape."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "int32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64, 64), "int32")
        T.annotate_layout({f: T.Fragment((64, 32), lambda i, j: (i, j))})


# --- report ---
# fragment_layout_of_other_shape.py:10:9: error: layout of shape 64 x 32 on 'f' (64 x 64 int32), expected 64 x 64
#    10 |         T.annotate_layout({f: T.Fragment((64, 32), lambda i, j: (i, j))})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
