"""More indices than dimensions."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float32")):
    with T.Kernel(1) as bx:
        A[bx, 0, 0] = 1.0


# --- report ---
# too_many_indices.py:9:9: error: 'A' has 2 dimensions, got 3 indices
#     9 |         A[bx, 0, 0] = 1.0
#       |         ^^^^^^^^^^^
