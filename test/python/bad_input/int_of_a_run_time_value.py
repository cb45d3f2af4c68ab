"""Python cannot convert what is only known at run time."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        A[0] = int(A[1])


# --- report ---
# int_of_a_run_time_value.py:9:16: error: 'int' of a run-time value; use T.cast(x, 'int32') or T.int32(x)
#     9 |         A[0] = int(A[1])
#       |                ^^^^^^^^^
