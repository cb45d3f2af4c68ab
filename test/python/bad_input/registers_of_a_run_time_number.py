"""How many registers a thread gets is decided at compile time."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1):
        T.inc_max_nreg(A[0])


# --- report ---
# registers_of_a_run_time_number.py:9:9: error: a number of registers is a positive Python integer, got a run-time value of type int32
#     9 |         T.inc_max_nreg(A[0])
#       |         ^^^^^^^^^^^^^^^^^^^^
