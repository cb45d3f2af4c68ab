"""A number cannot be cleared."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.clear(3)


# --- report ---
# clear_of_a_number.py:9:9: error: 'T.clear': the destination must be a tile or region, got the Python number 3
#     9 |         T.clear(3)
#       |         ^^^^^^^^^^
