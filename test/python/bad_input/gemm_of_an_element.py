"""A gemm on one element."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1):
        a = T.alloc_shared((64, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.gemm(a[0, 0], a, c)


# --- report ---
# gemm_of_an_element.py:11:9: error: 'T.gemm': A must be a tile or region, got one element
#    11 |         T.gemm(a[0, 0], a, c)
#       |         ^^^^^^^^^^^^^^^^^^^^^
