"""An element type that is not supported yet."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int2")):
    with T.Kernel(1):
        A[0] = 1


# --- report ---
# dtype_not_supported_yet.py:7:13: error: dtype 'int2' is not supported yet
#     7 | def main(A: T.Tensor((8,), "int2")):
#       |             ^^^^^^^^^^^^^^^^^^^^^^
