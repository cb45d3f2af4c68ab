"""A prim_func that launches nothing."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    x = 1


# --- report ---
# function_without_kernel.py:7:1: error: 'main' launches no kernel; open one: 'with T.Kernel(blocks, threads=128) as bx:'
#     7 | def main(A: T.Tensor((8,), "float32")):
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
