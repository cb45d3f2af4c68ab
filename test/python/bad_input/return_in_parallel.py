"""A kernel cannot be left from one of many independent iterations."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            if A[i] > 3:
                return


# --- report ---
# return_in_parallel.py:11:17: error: 'return' inside T.Parallel; only T.serial, T.unroll and while loops can be left early
#    11 |                 return
#       |                 ^^^^^^
