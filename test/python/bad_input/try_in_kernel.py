"""Syntax that has no meaning in a kernel."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        try:
            A[0] = 1.0
        except ValueError:
            pass


# --- report ---
# try_in_kernel.py:9:9: error: 'try' has no meaning in a kernel: no exception is raised at run time
#     9 |         try:
#       |         ^^^^
