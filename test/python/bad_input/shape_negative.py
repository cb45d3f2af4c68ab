"""A tensor of minus four elements."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((-4,), "float32")):
    with T.Kernel(1):
        A[0] = 1.0


# --- report ---
# shape_negative.py:7:13: error: T.Tensor: extent 0 must be positive, got -4
#     7 | def main(A: T.Tensor((-4,), "float32")):
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^
