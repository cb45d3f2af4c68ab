"""A keyword that the statement does not have."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        T.copy(A, B, coalesce=4)


# --- report ---
# copy_unknown_keyword.py:9:9: error: T.copy() got an unexpected keyword argument 'coalesce'
#     9 |         T.copy(A, B, coalesce=4)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^
