"""A block of nothing."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[T.ceildiv(64, 0)] = 1.0


# --- report ---
# ceildiv_by_zero.py:9:11: error: 'T.ceildiv' of 64 and 0: integer division or modulo by zero
#     9 |         A[T.ceildiv(64, 0)] = 1.0
#       |           ^^^^^^^^^^^^^^^^
