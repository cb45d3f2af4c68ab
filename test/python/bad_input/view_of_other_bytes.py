"""A view whose bytes do not fit."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((3,), "int8")
        v = T.view(s, dtype="int32")


# --- report ---
# view_of_other_bytes.py:10:13: error: view of 's' (3 int8) as 3 int32: expected 3 bytes, got 12
#    10 |         v = T.view(s, dtype="int32")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^
