"""A tensor whose extent is not a number."""

import tilelang.language as T


size = float("inf") - float("inf")


@T.prim_func
def main(A: T.Tensor((64, size), "float32")):
    with T.Kernel(1):
        A[0, 0] = 1.0


# --- report ---
# nan_extent.py:10:13: error: T.Tensor: extent 1 is not a number (NaN)
#    10 | def main(A: T.Tensor((64, size), "float32")):
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
