"""An index must be an integer."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "float32")):
    with T.Kernel(1) as bx:
        A[bx * 0.5] = 1.0


# --- report ---
# float_as_index.py:9:9: error: index of 'A': expected an integer, got float32; convert with 'T.cast'
#     9 |         A[bx * 0.5] = 1.0
#       |         ^^^^^^^^^^^
