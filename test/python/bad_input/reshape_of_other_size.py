"""A view with more elements."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((64,), "float32")
        v = T.reshape(s, (8, 9))


# --- report ---
# reshape_of_other_size.py:10:13: error: view of 's' (64 float32) as 8 x 9 float32: expected 256 bytes, got 288
#    10 |         v = T.reshape(s, (8, 9))
#       |             ^^^^^^^^^^^^^^^^^^^^
