"""The profiler has no such mean."""

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


double(64).get_profiler().do_bench(return_mode="average")


# --- report ---
# profiler_mode_unknown.py:18:1: error: unknown return_mode 'average'; use mean, median, min, max
#    18 | double(64).get_profiler().do_bench(return_mode="average")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
