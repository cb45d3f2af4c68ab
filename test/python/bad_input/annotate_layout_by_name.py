"""A layout for the name of a tensor."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.annotate_layout({"A": T.Layout((64,), lambda i: i)})


# --- report ---
# annotate_layout_by_name.py:9:9: error: 'T.annotate_layout': expected a buffer, got a Python str
#     9 |         T.annotate_layout({"A": T.Layout((64,), lambda i: i)})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
