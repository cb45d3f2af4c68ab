"""A block without threads."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=0):
        A[0] = 1.0


# --- report ---
# threads_zero.py:8:10: error: threads of T.Kernel must be positive integers, got 0
#     8 |     with T.Kernel(1, threads=0):
#       |          ^^^^^^^^^^^^^^^^^^^^^^
