"""A class in a kernel."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    class Inner:
        pass
    with T.Kernel(1):
        A[0] = 1.0


# --- report ---
# class_in_kernel.py:8:5: error: a class cannot be defined inside a kernel; define it outside
#     8 |     class Inner:
#       |     ^^^^^^^^^^^^
