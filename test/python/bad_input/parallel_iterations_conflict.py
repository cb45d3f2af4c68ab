"""Two iterations write one element."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((32,), "int32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            B[i // 2] = A[i]


# --- report ---
# parallel_iterations_conflict.py:10:13: error: 'T.Parallel' iterations are not independent: (0) writes and (1) writes the same element of 'B'[0] with another value; use an atomic, a reduction, or two loops
#    10 |             B[i // 2] = A[i]
#       |             ^^^^^^^^^^^^^^^^
# parallel_iterations_conflict.py:9:9: note: the loop starts here
