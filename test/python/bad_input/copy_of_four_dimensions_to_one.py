"""Ranks differ by more than ones."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((2, 2, 4, 4), "float32")):
    with T.Kernel(1):
        T.copy(B, A)


# --- report ---
# copy_of_four_dimensions_to_one.py:9:9: error: 'T.copy': expected equal extents, got 'B' (2 x 2 x 4 x 4 float32) and 'A' (64 float32)
#     9 |         T.copy(B, A)
#       |         ^^^^^^^^^^^^
