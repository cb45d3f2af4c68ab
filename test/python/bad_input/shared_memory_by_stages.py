"""Versions of pipelined tiles that do not fit: each tile is listed with its stages."""

import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((128, 1024), "float16"), B: T.Tensor((1024, 128), "float16"), C: T.Tensor((128, 128), "float32")):
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((128, 64), "float16")
        b = T.alloc_shared((64, 128), "float16")
        c = T.alloc_fragment((128, 128), "float32")
        T.clear(c)
        for k in T.Pipelined(16, num_stages=6):
            T.copy(A[0, k * 64], a)
            T.copy(B[k * 64, 0], b)
            T.gemm(a, b, c)
        T.copy(c, C)


tilewright.compile(main, target="sm_80")


# --- report ---
# shared_memory_by_stages.py:9:5: error: kernel needs 196608 bytes of shared memory, sm_80 allows 166912; lower num_stages or a tile
#     9 |     with T.Kernel(1, threads=128):
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
# shared_memory_by_stages.py:10:9: note: 'a' takes 98304 bytes (6 stages x 16384)
# shared_memory_by_stages.py:11:9: note: 'b' takes 98304 bytes (6 stages x 16384)
