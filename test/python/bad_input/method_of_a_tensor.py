"""Tensors have no methods of numpy."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = A.sum()


# --- report ---
# method_of_a_tensor.py:9:16: error: values of a kernel have no attribute 'sum'; use T.reduce_sum
#     9 |         A[0] = A.sum()
#       |                ^^^^^
