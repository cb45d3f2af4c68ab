"""A prim_func is called from a kernel."""

import tilelang.language as T


@T.prim_func
def first(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        A[0] = 1


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        first(A)


# --- report ---
# kernel_calls_kernel.py:15:9: error: the prim_func 'first' cannot be called from a kernel; make it a @T.macro to inline it
#    15 |         first(A)
#       |         ^^^^^^^^
