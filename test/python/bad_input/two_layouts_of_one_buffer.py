"""One buffer, two layouts."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1):
        s = T.alloc_shared((64, 64), "float16")
        T.annotate_layout({s: T.Layout((64, 64), lambda i, j: [j, i])})
        T.copy(A, s)
        T.annotate_layout({s: T.Layout((64, 64), lambda i, j: [i, j])})


# --- report ---
# two_layouts_of_one_buffer.py:12:9: error: 's' (64 x 64 float16) has another layout already; keep one of the two
#    12 |         T.annotate_layout({s: T.Layout((64, 64), lambda i, j: [i, j])})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
# two_layouts_of_one_buffer.py:10:9: note: the other layout is annotated here
