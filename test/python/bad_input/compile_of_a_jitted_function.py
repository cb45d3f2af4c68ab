"""A function under @tilelang.jit is compiled once more."""

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


tilelang.compile(double)


# --- report ---
# compile_of_a_jitted_function.py:18:1: error: tilewright.compile expects a T.prim_func, got 'double', a function under @tilelang.jit; call it: 'double(…)' gives the compiled kernel
#    18 | tilelang.compile(double)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^
