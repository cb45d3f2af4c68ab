"""What to fill with is missing."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.fill(A)


# --- report ---
# fill_without_value.py:9:9: error: T.fill() missing 1 required positional argument: 'value'
#     9 |         T.fill(A)
#       |         ^^^^^^^^^
