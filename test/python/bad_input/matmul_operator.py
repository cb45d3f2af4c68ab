"""Python's @ on tiles."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1):
        C = A @ A


# --- report ---
# matmul_operator.py:9:13: error: '@' of a whole tile; loop over its elements with T.Parallel
#     9 |         C = A @ A
#       |             ^^^^^
