"""T.Pipelined runs over one extent."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i, j in T.Pipelined(4, 4):
            A[i] = 1.0


# --- report ---
# pipelined_over_two_extents.py:9:13: error: 2 names for 1 variable
#     9 |         for i, j in T.Pipelined(4, 4):
#       |             ^^^^
