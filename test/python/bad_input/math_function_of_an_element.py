"""Python's math needs a number now."""

import math

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = math.sqrt(A[1])


# --- report ---
# math_function_of_an_element.py:11:16: error: 'math.sqrt' runs in Python and cannot take a value of the kernel; use T.sqrt
#    11 |         A[0] = math.sqrt(A[1])
#       |                ^^^^^^^^^^^^^^^
