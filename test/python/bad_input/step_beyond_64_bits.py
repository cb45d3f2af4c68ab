import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in range(0, 64, 1 << 63):
            A[i] = 1.0


tilewright.compile(main)


# --- report ---
# step_beyond_64_bits.py:8:18: error: the step of range is 9223372036854775808, which does not fit int64
#     8 |         for i in range(0, 64, 1 << 63):
#       |                  ^^^^^^^^^^^^^^^^^^^^^
