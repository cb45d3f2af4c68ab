"""A barrier among independent iterations."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            T.sync_threads()
            A[i] = 1.0


# --- report ---
# sync_in_parallel.py:10:13: error: 'T.sync_threads' inside T.Parallel: its iterations are independent and never meet; end the loop and begin another one
#    10 |             T.sync_threads()
#       |             ^^^^^^^^^^^^^^^^
