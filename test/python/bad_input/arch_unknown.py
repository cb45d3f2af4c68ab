"""An architecture that there is not."""

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


double(64).ir("ptx", arch="sm_75")


# --- report ---
# arch_unknown.py:18:1: error: unknown architecture 'sm_75'; known are sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_103, sm_110, sm_120, sm_121
#    18 | double(64).ir("ptx", arch="sm_75")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
