"""A fragment is placed by a T.Fragment, not by a T.Layout."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64,), "int32")
        T.annotate_layout({f: T.Layout((64,), lambda i: [i])})


# --- report ---
# layout_on_a_fragment.py:10:9: error: 'f' (64 int32) lives in registers and needs 'T.Fragment', got a 'T.Layout'
#    10 |         T.annotate_layout({f: T.Layout((64,), lambda i: [i])})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
