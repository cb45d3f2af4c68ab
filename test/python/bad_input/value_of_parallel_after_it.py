"""Independent iterations have no last one."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32"), B: T.Tensor((1,), "int32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            last = A[i]
        B[0] = last


# --- report ---
# value_of_parallel_after_it.py:11:16: error: 'last' is bound inside the T.Parallel loop at line 9, whose iterations have no last one; store it into a tile to use it after the loop
#    11 |         B[0] = last
#       |                ^^^^
