"""T.cast of a whole tile."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = T.cast(A, "float16")


# --- report ---
# cast_of_a_tile.py:9:16: error: 'T.cast' needs a scalar, got the tile 'A'
#     9 |         A[0] = T.cast(A, "float16")
#       |                ^^^^^^^^^^^^^^^^^^^^
