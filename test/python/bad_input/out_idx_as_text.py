"""out_idx by name."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main, out_idx=["A"])


# --- report ---
# out_idx_as_text.py:13:1: error: out_idx must be integers, got 'A'
#    13 | tilelang.compile(main, out_idx=["A"])
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
