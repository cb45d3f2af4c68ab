"""Tensors have no T."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8, 8), "float32")):
    with T.Kernel(1):
        T.copy(A.T, A)


# --- report ---
# transposed_attribute.py:9:16: error: values of a kernel have no attribute 'T'; use T.transpose
#     9 |         T.copy(A.T, A)
#       |                ^^^
