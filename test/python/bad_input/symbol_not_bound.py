"""A shape symbol that no tensor determines."""

import tilelang.language as T


n, m = T.dynamic("n, m")


@T.prim_func
def main(A: T.Tensor((n,), "float32")):
    with T.Kernel(m):
        A[0] = 1.0


# --- report ---
# symbol_not_bound.py:10:1: error: shape symbol 'm' is neither an extent nor a stride of any parameter, so that no call can give its value
#    10 | def main(A: T.Tensor((n,), "float32")):
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
