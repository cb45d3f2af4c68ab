"""The language has no arcsine; the sine is something else."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = T.arcsine(A[1])


# --- report ---
# name_that_is_not_close.py:9:16: error: the language has no 'T.arcsine'
#     9 |         A[0] = T.arcsine(A[1])
#       |                ^^^^^^^^^
