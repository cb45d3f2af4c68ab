"""T.Kernel is entered by with."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    for bx in T.Kernel(4, threads=128):
        C[bx, 0] = 1.0

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# kernel_as_a_loop.py:10:15: error: T.Kernel is not a loop; write 'with T.Kernel(blocks, threads=128) as bx:'
#    10 |     for bx in T.Kernel(4, threads=128):
#       |               ^^^^^^^^^^^^^^^^^^^^^^^^
