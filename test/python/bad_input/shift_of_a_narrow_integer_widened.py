"""A shift that leaves nothing of a narrow integer, where C's promotions would keep the bits."""

import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "uint16"), B: T.Tensor((8,), "uint32")):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(8):
            B[i] = T.cast(A[i] << 20, "uint32") | T.cast(A[i] >> 4, "uint32")


# --- report ---
# shift_of_a_narrow_integer_widened.py:10:20: error: 'T.cast' of a uint16 shifted left by 20 bits to uint32: the shift is computed in uint16 and leaves 0 (CUDA's C++ computes it in 32 bits); convert first: T.cast(x, "uint32") << 20
#    10 |             B[i] = T.cast(A[i] << 20, "uint32") | T.cast(A[i] >> 4, "uint32")
#       |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
