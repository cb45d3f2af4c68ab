"""T.Parallel has no such keyword."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(64, stages=2):
            A[i] = 1.0


# --- report ---
# parallel_keyword_unknown.py:9:18: error: T.Parallel() got an unexpected keyword argument 'stages'
#     9 |         for i in T.Parallel(64, stages=2):
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^
