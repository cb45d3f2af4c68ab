"""One index of a two-dimensional tile is a row."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32"), S: T.Tensor((8, 8), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(8):
            A[i] = S[i] * 2.0


# --- report ---
# row_of_a_tile_as_a_value.py:10:20: error: 'S[i]' is a part of 'S', which has 2 dimensions, not an element; give it 2 indices
#    10 |             A[i] = S[i] * 2.0
#       |                    ^^^^^^^^^^
