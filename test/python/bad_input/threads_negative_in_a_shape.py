"""A thread shape with a negative extent."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1, threads=(32, -4)):
        A[0] = 1.0


# --- report ---
# threads_negative_in_a_shape.py:8:10: error: threads of T.Kernel must be positive integers, got (32, -4)
#     8 |     with T.Kernel(1, threads=(32, -4)):
#       |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
