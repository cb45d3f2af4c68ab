"""A jitted function that forgets to return its kernel."""

import tilelang
import tilelang.language as T


@tilelang.jit
def make(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32")):
        with T.Kernel(1):
            A[0] = 1

make(8)


# --- report ---
# jit_returns_nothing.py:8:1: error: 'make' must return a T.prim_func, got None; or open the kernel in its own body ('with T.Kernel(...)')
#     8 | def make(n):
#       | ^^^^^^^^^^^^
