"""A reduction into a tile of another shape."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 32), "float32")):
    with T.Kernel(1):
        f = T.alloc_fragment((64, 32), "float32")
        r = T.alloc_fragment((32,), "float32")
        T.reduce_sum(f, r, dim=1)


# --- report ---
# reduce_result_of_wrong_shape.py:11:9: error: 'T.reduce_sum' of 'f' (64 x 32 float32) along dimension 1: expected an output of 64 or 64 x 1, got 'r' (32 float32)
#    11 |         T.reduce_sum(f, r, dim=1)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^
# reduce_result_of_wrong_shape.py:10:9: note: 'r' is allocated here
