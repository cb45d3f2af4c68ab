"""A tile has no truth: Python would say that it is not 0."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=32):
        s = T.alloc_shared((4,), "float32")
        T.copy(A, s)
        if s == 0:
            A[0] = 1.0


# --- report ---
# tile_equals_a_number.py:11:12: error: '==' of a whole tile; loop over its elements with T.Parallel
#    11 |         if s == 0:
#       |            ^^^^^^
