"""Integers have no infinity."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = T.infinity("int32")


# --- report ---
# infinity_of_integers.py:9:16: error: 'T.infinity': int32 has no infinity; use T.max_value(dtype)
#     9 |         A[0] = T.infinity("int32")
#       |                ^^^^^^^^^^^^^^^^^^^
