"""None is no value."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = None


# --- report ---
# none_into_an_element.py:9:9: error: stored value: expected a number or a kernel value, got a Python 'NoneType'
#     9 |         A[0] = None
#       |         ^^^^
