"""Two elements in one register."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "int32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64, 64), "int32")
        T.annotate_layout({f: T.Fragment((64, 64), lambda i, j: (i, j // 2))})


# --- report ---
# fragment_layout_not_injective.py:10:9: error: layout of 'f' (64 x 64 int32) is not injective: elements (0, 0) and (0, 1) both lie in thread 0, slot 0
#    10 |         T.annotate_layout({f: T.Fragment((64, 64), lambda i, j: (i, j // 2))})
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
