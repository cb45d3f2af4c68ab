"""The layout is no layout."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.annotate_layout({A: 3})


# --- report ---
# layout_for_a_number.py:9:9: error: 'T.annotate_layout' of 'A': expected a T.Layout, a T.Fragment or a function of the indices, got the Python number 3
#     9 |         T.annotate_layout({A: 3})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^
