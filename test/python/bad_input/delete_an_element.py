"""An element cannot be deleted."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        del A[0]


# --- report ---
# delete_an_element.py:9:9: error: 'del' is not allowed in a kernel; tiles are freed by the compiler
#     9 |         del A[0]
#       |         ^^^^^^^^
