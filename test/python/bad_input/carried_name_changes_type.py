"""A loop turns an integer into a float."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((1,), "float32")):
    with T.Kernel(1):
        total = 0
        for i in T.serial(64):
            total = total + A[i]
        B[0] = total


# --- report ---
# carried_name_changes_type.py:11:13: error: 'total' starts as the Python number 0 and becomes a run-time value of type float32 in a loop; start it with the type it needs, for example 'total = T.float32(...)'
#    11 |             total = total + A[i]
#       |             ^^^^^^^^^^^^^^^^^^^^
