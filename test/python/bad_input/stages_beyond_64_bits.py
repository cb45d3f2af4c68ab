import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for _ in T.Pipelined(4, num_stages=1 << 63):
            A[0] = 1.0


tilewright.compile(main)


# --- report ---
# stages_beyond_64_bits.py:8:18: error: num_stages of T.Pipelined is 9223372036854775808, which does not fit int64
#     8 |         for _ in T.Pipelined(4, num_stages=1 << 63):
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
