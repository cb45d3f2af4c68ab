"""A configuration names no parameter."""

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


tilelang.autotune(configs=[{"blck": 16}])(double)(64)


# --- report ---
# tune_an_unknown_parameter.py:18:1: error: a configuration names 'blck', which is no parameter of 'double'
#    18 | tilelang.autotune(configs=[{"blck": 16}])(double)(64)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
