"""A static slice beyond the end of an on-chip tile."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((8,), "int32")
        T.fill(s[6:12], 7)


# --- report ---
# slice_out_of_range.py:10:16: error: slice 6:12 is out of bounds for dimension 0 of 's' (8 int32)
#    10 |         T.fill(s[6:12], 7)
#       |                ^^^^^^^
# slice_out_of_range.py:9:9: note: 's' is allocated here
