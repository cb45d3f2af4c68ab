"""An extent that is a tile."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(A):
            A[i] = 1.0


# --- report ---
# parallel_over_a_tile.py:9:18: error: extent 0 of T.Parallel must be an integer, got <buffer 'A' (64 float32)>
#     9 |         for i in T.Parallel(A):
#       |                  ^^^^^^^^^^^^^
