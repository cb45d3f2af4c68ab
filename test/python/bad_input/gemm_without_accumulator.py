"""A product needs a place for its result."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16")):
    with T.Kernel(1):
        T.gemm(A, A)


# --- report ---
# gemm_without_accumulator.py:9:9: error: T.gemm() missing 1 required positional argument: 'C'
#     9 |         T.gemm(A, A)
#       |         ^^^^^^^^^^^^
