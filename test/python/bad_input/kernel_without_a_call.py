"""T.Kernel has no grid."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel:
        C[0, 0] = 1.0

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# kernel_without_a_call.py:10:10: error: 'with' takes a call, as in 'with T.Kernel(blocks, threads=128) as bx'
#    10 |     with T.Kernel:
#       |          ^^^^^^^^
