"""T.if_then_else needs three."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = T.if_then_else(A[0] > 0, 1.0)


# --- report ---
# choice_of_two_arguments.py:9:16: error: T.if_then_else() missing 1 required positional argument: 'false_value'
#     9 |         A[0] = T.if_then_else(A[0] > 0, 1.0)
#       |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
