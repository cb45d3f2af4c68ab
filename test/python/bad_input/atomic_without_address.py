"""An atomic update of something that is no element."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        x = A[0] + 1
        T.atomic_add(x, 1)


# --- report ---
# atomic_without_address.py:10:9: error: 'T.atomic_add': the destination must be an element or region of a tensor, got a run-time value of type int32; pass A[i, j]; in a macro, annotate the parameter with T.Ref
#    10 |         T.atomic_add(x, 1)
#       |         ^^^^^^^^^^^^^^^^^^
