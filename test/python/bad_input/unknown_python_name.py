"""A misspelt variable."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        total = 1.0
        A[0] = totl


# --- report ---
# unknown_python_name.py:10:16: error: name 'totl' is not defined; did you mean 'total'?
#    10 |         A[0] = totl
#       |                ^^^^
