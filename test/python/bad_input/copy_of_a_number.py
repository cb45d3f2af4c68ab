"""A copy whose source is no tile."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.copy(1.0, A)


# --- report ---
# copy_of_a_number.py:9:9: error: 'T.copy': the source must be a tile or region, got the Python number 1.0
#     9 |         T.copy(1.0, A)
#       |         ^^^^^^^^^^^^^^
