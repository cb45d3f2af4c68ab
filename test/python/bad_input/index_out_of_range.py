"""A static index beyond the end of an on-chip tile."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((8,), "int32")
        s[8] = 1


# --- report ---
# index_out_of_range.py:10:9: error: index 8 is out of bounds for dimension 0 of 's' (8 int32)
#    10 |         s[8] = 1
#       |         ^^^^
# index_out_of_range.py:9:9: note: 's' is allocated here
