"""A copy between tiles of different extents."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 128), "float16")):
    with T.Kernel(1):
        s = T.alloc_shared((32, 128), "float16")
        T.copy(A[0:64, :], s)


# --- report ---
# copy_extents_differ.py:10:9: error: 'T.copy': expected equal extents, got 'A' (64 x 128 float16) and 's' (32 x 128 float16)
#    10 |         T.copy(A[0:64, :], s)
#       |         ^^^^^^^^^^^^^^^^^^^^^
# copy_extents_differ.py:9:9: note: 's' is allocated here
