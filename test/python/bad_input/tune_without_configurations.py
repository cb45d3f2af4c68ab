"""Nothing to choose from."""

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


tilelang.autotune(configs=[])(double)(64)


# --- report ---
# tune_without_configurations.py:18:1: error: there are no configurations to tune
#    18 | tilelang.autotune(configs=[])(double)(64)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
