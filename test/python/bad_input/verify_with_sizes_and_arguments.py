"""verify is given arguments and sizes to make some up."""

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


double(64).verify(np.ones(64, np.float32), sizes={"n": 8})


# --- report ---
# verify_with_sizes_and_arguments.py:19:1: error: 'sizes' are for made-up inputs: pass them without arguments
#    19 | double(64).verify(np.ones(64, np.float32), sizes={"n": 8})
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
