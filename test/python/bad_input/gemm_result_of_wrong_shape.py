"""The accumulator has another shape."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1):
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 32), "float32")
        T.gemm(a, a, c)


# --- report ---
# gemm_result_of_wrong_shape.py:11:9: error: 'T.gemm': A is 'a' (64 x 64 float16), B is 'a' (64 x 64 float16), C is 'c' (64 x 32 float32); expected C to be 64 x 64
#    11 |         T.gemm(a, a, c)
#       |         ^^^^^^^^^^^^^^^
