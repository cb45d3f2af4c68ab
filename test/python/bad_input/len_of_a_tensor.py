"""Python has no length for a tensor of the kernel."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        for i in range(len(A)):
            C[i, 0] = 1.0

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# len_of_a_tensor.py:11:24: error: 'len' of a whole tile; use its shape, as in A.shape[0]
#    11 |         for i in range(len(A)):
#       |                        ^^^^^^
