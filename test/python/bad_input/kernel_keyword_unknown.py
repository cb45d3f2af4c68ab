"""T.Kernel has no such keyword."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, thread=128):
        A[0] = 1.0


# --- report ---
# kernel_keyword_unknown.py:8:10: error: T.Kernel() got an unexpected keyword argument 'thread'; did you mean 'threads'?
#     8 |     with T.Kernel(1, thread=128):
#       |          ^^^^^^^^^^^^^^^^^^^^^^^
