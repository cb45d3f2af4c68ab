"""A name of TileLang that is not supported yet."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64) as bx:
        A[bx] = T.call_packed("f")


# --- report ---
# name_not_supported_yet.py:9:17: error: 'T.call_packed' is not supported yet: use the functions of T; instructions are the compiler's choice
#     9 |         A[bx] = T.call_packed("f")
#       |                 ^^^^^^^^^^^^^
