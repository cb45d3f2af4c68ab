"""A tile belongs to its kernel."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((64,), "float32")
        T.copy(A, s)
    with T.Kernel(1):
        T.copy(s, A)


# --- report ---
# tile_of_another_kernel.py:12:9: error: this uses a tile or an index of another T.Kernel, which ended; a tile lives in its kernel, pass values between kernels through a tensor
#    12 |         T.copy(s, A)
#       |         ^^^^^^^^^^^^
# tile_of_another_kernel.py:9:9: note: it is defined here
