"""A tensor of T.empty is an output: the function returns it."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        B = T.empty((64,), "float32")


# --- report ---
# empty_in_a_prim_func.py:7:1: error: the output 'B' of 'main' is not returned
#     7 | def main(A: T.Tensor((64,), "float32")):
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
