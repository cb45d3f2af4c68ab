"""An array is not its length."""

import numpy as np
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def f(n, block):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, block), threads=32) as bx:
            T.copy(A[bx * block], B[bx * block])
    return main
f(np.ones(4, np.float32), 4)


# --- report ---
# extent_as_an_array.py:11:17: error: T.Tensor: extent 0 must be an integer, got a Python ndarray; an array has its extents in '.shape'
#    11 |     def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
#       |                 ^^^^^^^^^^^^^^^^^^^^^^^^^
