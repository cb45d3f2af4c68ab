import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(1 << 63):
            A[i % 64] = 1.0


tilewright.compile(main)


# --- report ---
# parallel_beyond_64_bits.py:8:18: error: extent 0 of T.Parallel is 9223372036854775808, which does not fit int64
#     8 |         for i in T.Parallel(1 << 63):
#       |                  ^^^^^^^^^^^^^^^^^^^
