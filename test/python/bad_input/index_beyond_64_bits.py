import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        A[1 << 63] = 1.0


tilewright.compile(main)


# --- report ---
# index_beyond_64_bits.py:8:9: error: the number 9223372036854775808 does not fit an index
#     8 |         A[1 << 63] = 1.0
#       |         ^^^^^^^^^^
