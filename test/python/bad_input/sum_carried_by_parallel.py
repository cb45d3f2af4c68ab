"""A sum cannot be carried through independent iterations."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((1,), "int32")):
    with T.Kernel(1):
        total = 0
        for i in T.Parallel(64):
            total = total + A[i]
        B[0] = total


# --- report ---
# sum_carried_by_parallel.py:11:13: error: 'total' is carried from one iteration of T.Parallel to the next, but its iterations are independent; use T.reduce_sum, T.atomic_add or a T.serial loop
#    11 |             total = total + A[i]
#       |             ^^^^^
