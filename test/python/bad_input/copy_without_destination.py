"""A call that leaves an argument out."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.copy(A)


# --- report ---
# copy_without_destination.py:9:9: error: T.copy() missing 1 required positional argument: 'dst'
#     9 |         T.copy(A)
#       |         ^^^^^^^^^
