"""The modes have CUDA's names."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            A[i] = T.ieee_add(A[i], 1.0, "up")


# --- report ---
# rounding_mode_unknown.py:10:20: error: 'T.ieee_add': the rounding mode is 'rn', 'rz', 'ru' or 'rd', got 'up'
#    10 |             A[i] = T.ieee_add(A[i], 1.0, "up")
#       |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
