"""A launch inside a launch."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        with T.Kernel(2):
            A[0] = 1.0


# --- report ---
# kernel_inside_kernel.py:9:14: error: 'T.Kernel' inside another 'T.Kernel'; end the first one
#     9 |         with T.Kernel(2):
#       |              ^^^^^^^^^^^
