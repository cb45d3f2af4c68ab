"""A factory is called without one of its arguments."""

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


double(block=64)


# --- report ---
# factory_argument_missing.py:18:1: error: 'double': missing a required argument: 'n'; it is defined as 'double(n, block=32)'
#    18 | double(block=64)
#       | ^^^^^^^^^^^^^^^^
