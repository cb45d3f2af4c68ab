"""T.const belongs to eager kernels."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        n = T.const("n")


# --- report ---
# const_in_a_prim_func.py:9:13: error: 'T.const' is only allowed in the body of an eager @tilelang.jit kernel
#     9 |         n = T.const("n")
#       |             ^^^^^^^^^^^^
