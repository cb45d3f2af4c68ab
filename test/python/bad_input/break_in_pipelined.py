"""A pipelined loop cannot be left early."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        for k in T.Pipelined(8, num_stages=2):
            if A[k] > 3:
                break


# --- report ---
# break_in_pipelined.py:11:17: error: 'break' inside T.Pipelined; only T.serial, T.unroll and while loops can be left early
#    11 |                 break
#       |                 ^^^^^
