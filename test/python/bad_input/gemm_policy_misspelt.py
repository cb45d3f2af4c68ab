"""An enumeration has no such member."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        t = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float32")
        T.copy(A, s)
        T.copy(B, t)
        T.clear(f)
        T.gemm(s, t, f, policy=T.GemmWarpPolicy.FullRows)
        T.copy(f, C)

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# gemm_policy_misspelt.py:17:32: error: GemmWarpPolicy has no 'FullRows'; did you mean 'GemmWarpPolicy.FullRow'?
#    17 |         T.gemm(s, t, f, policy=T.GemmWarpPolicy.FullRows)
#       |                                ^^^^^^^^^^^^^^^^^^^^^^^^^
