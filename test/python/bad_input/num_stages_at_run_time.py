"""The depth of a pipeline must be known while tracing."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32"), n: T.int32):
    with T.Kernel(1):
        for k in T.Pipelined(8, num_stages=n):
            A[k] = 1


# --- report ---
# num_stages_at_run_time.py:9:18: error: num_stages of T.Pipelined must be a Python integer, 0 or more, got a run-time value of type int32
#     9 |         for k in T.Pipelined(8, num_stages=n):
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
