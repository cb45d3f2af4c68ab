"""A prim_func returns nothing."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        A[0] = 1.0
    return A


# --- report ---
# return_of_a_value.py:10:5: error: a prim_func returns nothing; write results into its tensor parameters, or name them in 'out_idx'
#    10 |     return A
#       |     ^^^^^^^^
