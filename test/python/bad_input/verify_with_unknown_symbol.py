"""verify is told the size of a symbol that no shape has."""

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


double(64).verify(sizes={"m": 8})


# --- report ---
# verify_with_unknown_symbol.py:18:1: error: no shape has a symbol 'm'
#    18 | double(64).verify(sizes={"m": 8})
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
