"""T.exp without an argument."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        A[0] = T.exp()


# --- report ---
# exp_of_nothing.py:9:16: error: T.exp() missing 1 required positional argument: 'x'
#     9 |         A[0] = T.exp()
#       |                ^^^^^^^
