"""A fragment whose layout names more threads than the block has."""

import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((128,), "float32")):
    with T.Kernel(1, threads=64):
        a = T.alloc_fragment((128,), "float32")
        T.annotate_layout({a: T.Fragment((128,), forward_fn=lambda i: (i, 0))})
        T.copy(A, a)
        T.copy(a, A)


tilewright.compile(main, target="sm_80")


# --- report ---
# fragment_on_missing_threads.py:11:9: error: the layout of 'a' names 128 threads, the block has 64
#    11 |         T.annotate_layout({a: T.Fragment((128,), forward_fn=lambda i: (i, 0))})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
