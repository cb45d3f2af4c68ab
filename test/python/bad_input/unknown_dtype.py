"""A misspelt element type."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "flaot32")):
    with T.Kernel(1):
        A[0] = 1.0


# --- report ---
# unknown_dtype.py:7:13: error: unknown dtype 'flaot32'; did you mean 'float32'?
#     7 | def main(A: T.Tensor((8,), "flaot32")):
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^
