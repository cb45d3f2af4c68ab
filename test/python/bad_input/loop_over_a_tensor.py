"""Python iterates over a tensor."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for x in A:
            x = x + 1


# --- report ---
# loop_over_a_tensor.py:9:18: error: a buffer is not iterable; loop over its indices
#     9 |         for x in A:
#       |                  ^
