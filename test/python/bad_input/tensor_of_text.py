"""A shape made of text."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor("n", "float32")):
    with T.Kernel(1):
        A[0] = 1.0


# --- report ---
# tensor_of_text.py:7:13: error: T.Tensor: expected a shape such as (64, 128), got 'n'
#     7 | def main(A: T.Tensor("n", "float32")):
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^
