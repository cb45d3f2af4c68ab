"""T.empty belongs to eager kernels."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        B = T.empty((64,), "float32")


# --- report ---
# empty_in_a_prim_func.py:9:13: error: 'T.empty' is only allowed in the body of an eager @tilelang.jit kernel
#     9 |         B = T.empty((64,), "float32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^
