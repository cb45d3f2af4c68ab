"""More threads than a block can have."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=2048):
        A[0] = 1.0


# --- report ---
# too_many_threads.py:8:10: error: a block has at most 1024 threads, got 2048
#     8 |     with T.Kernel(1, threads=2048):
#       |          ^^^^^^^^^^^^^^^^^^^^^^^^^
