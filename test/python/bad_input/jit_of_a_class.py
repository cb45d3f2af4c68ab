"""@tilelang.jit on a class."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


@tilelang.jit
class Kernel:
    pass


# --- report ---
# jit_of_a_class.py:13:2: error: 'jit' expects a function, got a Python type
#    13 | @tilelang.jit
#       |  ^^^^^^^^^^^^
