"""The first T.gemm adds to a tile that holds nothing."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 128), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((64, 32), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        for k in T.Pipelined(4, num_stages=2):
            T.copy(A[0, k * 32], a)
            T.gemm(a, a, c, transpose_B=True)
        T.copy(c, C)


tilelang.compile(main)


# --- report ---
# gemm_without_clear.py:14:13: error: 'c' is read before anything writes it; T.gemm accumulates into it: add T.clear(c) or pass clear_accum=True
#    14 |             T.gemm(a, a, c, transpose_B=True)
#       |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
# gemm_without_clear.py:11:9: note: 'c' is allocated here
