"""A symbol is named by text."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((T.dynamic(3),), "float32")):
    with T.Kernel(1):
        A[0] = 1.0


# --- report ---
# dynamic_of_a_number.py:7:23: error: 'T.dynamic' takes a name, got 3
#     7 | def main(A: T.Tensor((T.dynamic(3),), "float32")):
#       |                       ^^^^^^^^^^^^
