"""@tilelang.jit on a prim_func."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.jit(main)


# --- report ---
# jit_of_a_prim_func.py:13:1: error: 'jit' decorates a function that returns a T.prim_func; compile a prim_func with tilewright.compile
#    13 | tilelang.jit(main)
#       | ^^^^^^^^^^^^^^^^^^
