import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        T.annotate_min_blocks_per_sm(1 << 63)
        A[0] = 1.0


tilewright.compile(main)


# --- report ---
# hint_beyond_64_bits.py:8:9: error: 'T.annotate_min_blocks_per_sm': the number 9223372036854775808 does not fit int64
#     8 |         T.annotate_min_blocks_per_sm(1 << 63)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
