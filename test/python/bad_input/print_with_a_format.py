"""T.print takes a value and a message."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.print("%d", A[0], 3, 4)


# --- report ---
# print_with_a_format.py:9:9: error: T.print() takes from 0 to 2 positional arguments but 4 were given
#     9 |         T.print("%d", A[0], 3, 4)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^
