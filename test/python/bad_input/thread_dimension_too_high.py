"""A block has one to three dimensions."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        A[T.get_thread_binding(3)] = 1.0


# --- report ---
# thread_dimension_too_high.py:9:11: error: 'T.get_thread_binding': dim is 0, 1 or 2, got 3
#     9 |         A[T.get_thread_binding(3)] = 1.0
#       |           ^^^^^^^^^^^^^^^^^^^^^^^
