"""A parameter has no annotation."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32"), n):
    with T.Kernel(1):
        A[0] = n


# --- report ---
# parameter_without_type.py:7:40: error: parameter 'n' has no type; write 'n: T.Tensor((M, N), "float16")' or 'n: T.int32'
#     7 | def main(A: T.Tensor((8,), "float32"), n):
#       |                                        ^
