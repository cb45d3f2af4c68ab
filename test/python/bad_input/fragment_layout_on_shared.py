"""A shared tile has addresses, not owners."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((64,), "int32")
        T.annotate_layout({s: T.Fragment((64,), lambda i: (i, 0))})


# --- report ---
# fragment_layout_on_shared.py:10:9: error: a fragment layout is annotated on a buffer that does not live in a fragment: 's' (64 int32), use 'T.Layout'
#    10 |         T.annotate_layout({s: T.Fragment((64,), lambda i: (i, 0))})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
