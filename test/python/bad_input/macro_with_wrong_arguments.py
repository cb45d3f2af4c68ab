"""A macro is called with too few arguments."""

import tilelang.language as T


@T.macro
def store(A, value):
    A[0] = value


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        store(A)


# --- report ---
# macro_with_wrong_arguments.py:14:9: error: macro 'store': missing a required argument: 'value'
#    14 |         store(A)
#       |         ^^^^^^^^
