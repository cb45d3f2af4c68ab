"""A call names a parameter that does not exist."""

import numpy as np
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def double(n, block=32):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, block)) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * 2.0

    return main


double(64)(X=np.ones(64, np.float32))


# --- report ---
# call_with_unknown_keyword.py:19:1: error: kernel 'main' has no further argument 'X'
#    19 | double(64)(X=np.ones(64, np.float32))
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
