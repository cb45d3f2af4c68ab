"""A gemm whose operands do not fit together."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 32), "float16")):
    with T.Kernel(1):
        a = T.alloc_shared((64, 32), "float16")
        b = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(a, b, c)


# --- report ---
# gemm_inner_extents_differ.py:12:9: error: 'T.gemm': A is 'a' (64 x 32 float16), B is 'b' (64 x 64 float16), C is 'c' (64 x 64 float32); A has K = 32 and B has K = 64
#    12 |         T.gemm(a, b, c)
#       |         ^^^^^^^^^^^^^^^
