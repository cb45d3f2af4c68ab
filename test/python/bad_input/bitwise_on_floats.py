"""Bit operations need integers."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        A[0] = A[1] & A[2]


# --- report ---
# bitwise_on_floats.py:9:16: error: this operation needs integers, got float32
#     9 |         A[0] = A[1] & A[2]
#       |                ^^^^^^^^^^^
