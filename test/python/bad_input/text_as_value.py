"""A text is no value of a kernel."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        A[0] = "one"


# --- report ---
# text_as_value.py:9:9: error: stored value: expected a number or a kernel value, got a Python 'str'
#     9 |         A[0] = "one"
#       |         ^^^^
