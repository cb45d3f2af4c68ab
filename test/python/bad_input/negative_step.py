"""A slice that runs backwards."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.copy(A[63:0:-1], A)


# --- report ---
# negative_step.py:9:16: error: slice of 'A': the step must be a positive constant
#     9 |         T.copy(A[63:0:-1], A)
#       |                ^^^^^^^^^^
