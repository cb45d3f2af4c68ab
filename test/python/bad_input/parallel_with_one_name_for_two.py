"""Two extents, one name."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(8, 8):
            A[i] = 1.0


# --- report ---
# parallel_with_one_name_for_two.py:10:13: error: 'A' has 1 dimensions, got 2 indices
#    10 |             A[i] = 1.0
#       |             ^^^^
