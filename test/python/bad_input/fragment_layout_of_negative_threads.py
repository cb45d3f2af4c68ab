"""Threads count from 0."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64,), "int32")
        T.annotate_layout({f: T.Fragment((64,), lambda i: (i - 5, 0))})


# --- report ---
# fragment_layout_of_negative_threads.py:10:9: error: layout of 'f' (64 int32) names thread -5, they count from 0
#    10 |         T.annotate_layout({f: T.Fragment((64,), lambda i: (i - 5, 0))})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
