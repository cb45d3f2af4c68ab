"""T.ldexp scales by a power of two."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            A[i] = T.ldexp(A[i], 0.5)


# --- report ---
# exponent_of_ldexp_is_a_float.py:10:20: error: 'T.ldexp' needs an integer exponent, got the Python number 0.5
#    10 |             A[i] = T.ldexp(A[i], 0.5)
#       |                    ^^^^^^^^^^^^^^^^^^
