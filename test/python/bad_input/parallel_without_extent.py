"""A loop over nothing."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel():
            A[i] = 1.0


# --- report ---
# parallel_without_extent.py:9:18: error: T.Parallel needs at least one extent
#     9 |         for i in T.Parallel():
#       |                  ^^^^^^^^^^^^
