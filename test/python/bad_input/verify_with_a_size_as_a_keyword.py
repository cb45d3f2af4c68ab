"""verify is told the size of a symbol as if it were a parameter."""

import tilelang
import tilelang.language as T

n = T.dynamic("n")


@T.prim_func
def double(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
    with T.Kernel(T.ceildiv(n, 64)) as bx:
        for i in T.Parallel(64):
            B[bx * 64 + i] = A[bx * 64 + i] * 2.0


tilelang.compile(double).verify(n=100)


# --- report ---
# verify_with_a_size_as_a_keyword.py:16:1: error: 'n' is no parameter of 'double', but a symbol of its shapes; pass sizes={'n': 100}
#    16 | tilelang.compile(double).verify(n=100)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
