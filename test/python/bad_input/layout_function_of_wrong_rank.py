"""A layout function with as many indices as the tile has not."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((64, 64), "int32")
        T.annotate_layout({s: T.Layout(s.shape, lambda i: [i])})


# --- report ---
# layout_function_of_wrong_rank.py:10:31: error: T.Layout: the function must take an index for each of the 2 dimensions, it takes 1
#    10 |         T.annotate_layout({s: T.Layout(s.shape, lambda i: [i])})
#       |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
