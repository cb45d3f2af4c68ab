"""A list is no tensor."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = 1

tilelang.compile(main)([0] * 8)


# --- report ---
# call_with_a_list.py:12:1: error: parameter 'A': expected a tensor of int32, shape 8, got a Python list
#    12 | tilelang.compile(main)([0] * 8)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
