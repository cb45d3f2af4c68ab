"""One element for two names."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        x, y = A[0]


# --- report ---
# unpack_an_element.py:9:9: error: 2 names for 1 value
#     9 |         x, y = A[0]
#       |         ^^^^^^^^^^^
