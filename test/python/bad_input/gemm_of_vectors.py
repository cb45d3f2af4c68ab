"""A product of one-dimensional tiles."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1):
        a = T.alloc_shared((64,), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(a, a, c)


# --- report ---
# gemm_of_vectors.py:11:9: error: 'T.gemm': expected a matrix for A, got 'a' (64 float16)
#    11 |         T.gemm(a, a, c)
#       |         ^^^^^^^^^^^^^^^
