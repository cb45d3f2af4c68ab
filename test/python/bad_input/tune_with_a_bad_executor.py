"""An executor that runs nothing."""

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


tilelang.autotune(configs=[{"block": 16}])(double)(64, executor=4)


# --- report ---
# tune_with_a_bad_executor.py:18:1: error: 'executor' must be a concurrent.futures.Executor, got a int
#    18 | tilelang.autotune(configs=[{"block": 16}])(double)(64, executor=4)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
