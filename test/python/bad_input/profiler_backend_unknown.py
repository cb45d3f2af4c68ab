"""The profiler has no such backend."""

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


double(64).get_profiler().do_bench(backend="fast")


# --- report ---
# profiler_backend_unknown.py:18:1: error: unknown backend 'fast'; use event, cupti, cudagraph, wall, msprof, msprof_detail, cpu
#    18 | double(64).get_profiler().do_bench(backend="fast")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
