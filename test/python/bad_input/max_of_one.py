"""T.max needs two values."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = T.max(A[0])


# --- report ---
# max_of_one.py:9:16: error: T.max() missing 1 required positional argument: 'b'
#     9 |         A[0] = T.max(A[0])
#       |                ^^^^^^^^^^^
