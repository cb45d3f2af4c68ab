"""A negative number of stages."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Pipelined(4, num_stages=-1):
            A[i] = 1.0


# --- report ---
# pipelined_negative_stages.py:9:18: error: num_stages of T.Pipelined must be a Python integer, 0 or more, got the Python number -1
#     9 |         for i in T.Pipelined(4, num_stages=-1):
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
