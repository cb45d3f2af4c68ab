"""A kernel cannot assign to globals."""

import tilelang.language as T


counter = 0


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    global counter
    with T.Kernel(1):
        counter = 1


# --- report ---
# global_in_kernel.py:11:5: error: 'global' is not allowed in a kernel; use T.alloc_var for a value that changes
#    11 |     global counter
#       |     ^^^^^^^^^^^^^^
