"""All warps on rows, but no division of the rows and columns gives every warp whole tiles."""

import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((48, 32), "float16"), B: T.Tensor((32, 24), "float16"), C: T.Tensor((48, 24), "float32")):
    with T.Kernel(1, threads=256):
        a = T.alloc_shared((48, 32), "float16")
        b = T.alloc_shared((32, 24), "float16")
        c = T.alloc_fragment((48, 24), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c)
        T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullRow)
        T.copy(c, C)


tilewright.compile(main, target="sm_80")


# --- report ---
# gemm_policy_without_warp_grid.py:16:9: error: 'T.gemm' with policy FullRow: no grid of 8 warps divides 48 x 24 into 16 x 8 tiles; multiples of 128 x 8, 64 x 16, 32 x 32, 16 x 64 work, or another number of threads
#    16 |         T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullRow)
#       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
