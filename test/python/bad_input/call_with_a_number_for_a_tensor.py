"""A tensor is wanted, a number is given."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main)(3.0, 1)


# --- report ---
# call_with_a_number_for_a_tensor.py:13:1: error: parameter 'A': expected a tensor of shape (4,), got a number
#    13 | tilelang.compile(main)(3.0, 1)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
