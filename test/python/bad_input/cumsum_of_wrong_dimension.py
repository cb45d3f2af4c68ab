"""There is no such dimension."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        s = T.alloc_shared((8, 8), "float32")
        T.cumsum(s, dim=3)


# --- report ---
# cumsum_of_wrong_dimension.py:10:9: error: 'T.cumsum': dim 3 is out of range for 's', which has 2 dimensions
#    10 |         T.cumsum(s, dim=3)
#       |         ^^^^^^^^^^^^^^^^^^
