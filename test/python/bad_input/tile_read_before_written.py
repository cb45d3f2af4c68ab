"""The tile is written, but only after it is read."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        s = T.alloc_shared((64,), "float32")
        for i in T.Parallel(64):
            B[i] = s[i] + A[i]
        T.copy(A, s)


tilelang.compile(main)


# --- report ---
# tile_read_before_written.py:12:13: error: 's' is read before anything writes it; copy or store something into it first
#    12 |             B[i] = s[i] + A[i]
#       |             ^^^^^^^^^^^^^^^^^^
# tile_read_before_written.py:10:9: note: 's' is allocated here
