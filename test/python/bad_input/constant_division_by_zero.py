"""Python divides by zero while it traces."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[64 // 0] = 1.0


# --- report ---
# constant_division_by_zero.py:9:11: error: integer division or modulo by zero
#     9 |         A[64 // 0] = 1.0
#       |           ^^^^^^^
