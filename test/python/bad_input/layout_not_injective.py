"""A layout that puts two elements into one place."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((64,), "int32")
        T.annotate_layout({s: T.Layout((64,), lambda i: [i // 2])})
        T.copy(A, s)


# --- report ---
# layout_not_injective.py:10:9: error: layout of 's' (64 int32) is not injective: elements (0) and (1) both lie at (0)
#    10 |         T.annotate_layout({s: T.Layout((64,), lambda i: [i // 2])})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
