"""out_idx names a parameter twice."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "float32"), k: T.int32):
    with T.Kernel(1):
        A[0] = A[0] + k


tilelang.compile(main, out_idx=[0, -2])


# --- report ---
# out_idx_twice.py:13:1: error: out_idx names parameter 'A' twice
#    13 | tilelang.compile(main, out_idx=[0, -2])
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
