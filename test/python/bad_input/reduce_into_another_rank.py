"""A sum over rows has one dimension less."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((8, 8), "float32")
        r = T.alloc_fragment((8, 8), "float32")
        T.reduce_sum(a, r, dim=1)


# --- report ---
# reduce_into_another_rank.py:11:9: error: 'T.reduce_sum' of 'a' (8 x 8 float32) along dimension 1: expected an output of 8 or 8 x 1, got 'r' (8 x 8 float32)
#    11 |         T.reduce_sum(a, r, dim=1)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^
# reduce_into_another_rank.py:10:9: note: 'r' is allocated here
