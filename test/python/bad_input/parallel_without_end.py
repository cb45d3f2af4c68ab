"""More iterations than a block can run."""

import tilelang.language as T
import tilewright


@T.prim_func
def main(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=32):
        for i, j in T.Parallel(1 << 20, 1 << 20):
            if i * j < 64:
                A[i * j] = 1


tilewright.compile(main)


# --- report ---
# parallel_without_end.py:10:21: error: 'T.Parallel' over 1048576 x 1048576 has more than 2^36 iterations for one block; divide them among the blocks of T.Kernel
#    10 |         for i, j in T.Parallel(1 << 20, 1 << 20):
#       |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
