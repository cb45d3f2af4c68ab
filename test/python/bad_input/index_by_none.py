"""None makes no new dimension."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[None] = 1.0


# --- report ---
# index_by_none.py:9:9: error: index: expected a number or a kernel value, got a Python 'NoneType'
#     9 |         A[None] = 1.0
#       |         ^^^^^^^
