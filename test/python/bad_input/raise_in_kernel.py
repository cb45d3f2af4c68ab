"""A kernel cannot raise."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        if A[0] < 0:
            raise ValueError("negative")


# --- report ---
# raise_in_kernel.py:10:13: error: 'raise' under a run-time condition: a kernel cannot raise; use T.device_assert(condition, message)
#    10 |             raise ValueError("negative")
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
