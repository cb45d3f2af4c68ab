"""An argument is given by position and by name."""

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


double(64, n=64)


# --- report ---
# factory_argument_twice.py:18:1: error: 'double': multiple values for argument 'n'; it is defined as 'double(n, block=32)'
#    18 | double(64, n=64)
#       | ^^^^^^^^^^^^^^^^
