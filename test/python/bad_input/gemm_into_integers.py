"""Floats are added up in integers."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1):
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "int32")
        T.gemm(a, a, c)


# --- report ---
# gemm_into_integers.py:11:9: error: 'T.gemm': A is 'a' (64 x 64 float16), B is 'a' (64 x 64 float16), C is 'c' (64 x 64 int32); expected all floats or all integers
#    11 |         T.gemm(a, a, c)
#       |         ^^^^^^^^^^^^^^^
