"""A constant has no such attribute."""

import tilelang.language as T

BLOCK = 64


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = BLOCK.size


# --- report ---
# missing_attribute_of_a_constant.py:11:16: error: 'int' object has no attribute 'size'
#    11 |         A[0] = BLOCK.size
#       |                ^^^^^^^^^^
