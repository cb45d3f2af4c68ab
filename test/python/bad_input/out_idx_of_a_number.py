"""out_idx names a number."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main, out_idx=[1])


# --- report ---
# out_idx_of_a_number.py:13:1: error: out_idx 1: parameter 'k' is not a tensor
#    13 | tilelang.compile(main, out_idx=[1])
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
