"""A dtype that there is not."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "integer")):
    with T.Kernel(1):
        A[0] = 1


# --- report ---
# tensor_of_unknown_dtype.py:7:13: error: unknown dtype 'integer'
#     7 | def main(A: T.Tensor((4,), "integer")):
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^
