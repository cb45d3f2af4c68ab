"""A shift in place: the last element of a block comes from the next block."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((512,), "float32")):
    with T.Kernel(8, threads=64) as bx:
        s = T.alloc_shared((64,), "float32")
        for i in T.Parallel(64):
            s[i] = A[bx * 64 + i + 1]
        T.copy(s, A[bx * 64])


tilelang.compile(main)


# --- report ---
# block_reads_what_the_next_writes.py:13:9: error: blocks (1) and (0) race: the first writes 'A'[64], the second reads it; use T.sync_grid, another tensor, or two kernels
#    13 |         T.copy(s, A[bx * 64])
#       |         ^^^^^^^^^^^^^^^^^^^^^
# block_reads_what_the_next_writes.py:12:13: note: the other access is here
