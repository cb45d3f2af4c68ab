"""A number has no rows."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.reduce_sum(1.0, A, dim=0)


# --- report ---
# reduce_of_a_number.py:9:9: error: 'T.reduce_sum': the source must be a tile or region, got the Python number 1.0
#     9 |         T.reduce_sum(1.0, A, dim=0)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^
