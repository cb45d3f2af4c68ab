"""The number of threads as text."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads="128"):
        A[0] = 1.0


# --- report ---
# threads_as_text.py:8:10: error: threads of T.Kernel must be positive integers, got '128'
#     8 |     with T.Kernel(1, threads="128"):
#       |          ^^^^^^^^^^^^^^^^^^^^^^^^^^
