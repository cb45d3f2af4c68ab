"""`compile` on a function that is not traced."""

import tilelang


def main(A):
    return A

tilelang.compile(main)


# --- report ---
# compile_of_a_plain_function.py:9:1: error: tilewright.compile expects a T.prim_func, got the plain function 'main'; decorate it with @T.prim_func
#     9 | tilelang.compile(main)
#       | ^^^^^^^^^^^^^^^^^^^^^^
