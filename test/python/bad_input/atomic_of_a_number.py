"""An atomic needs an address."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=32):
        T.atomic_add(1.0, A[0])


# --- report ---
# atomic_of_a_number.py:9:9: error: 'T.atomic_add': the destination must be an element or region of a tensor, got the Python number 1.0; pass A[i, j]; in a macro, annotate the parameter with T.Ref
#     9 |         T.atomic_add(1.0, A[0])
#       |         ^^^^^^^^^^^^^^^^^^^^^^^
