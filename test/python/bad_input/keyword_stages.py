"""The number of stages has a longer name."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        s = T.alloc_shared((64, 64), "float16")
        t = T.alloc_shared((64, 64), "float16")
        f = T.alloc_fragment((64, 64), "float32")
        T.clear(f)
        for k in T.Pipelined(4, stages=3):
            T.copy(A, s)
        T.copy(f, C)

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# keyword_stages.py:15:18: error: T.Pipelined() got an unexpected keyword argument 'stages'; did you mean 'num_stages'?
#    15 |         for k in T.Pipelined(4, stages=3):
#       |                  ^^^^^^^^^^^^^^^^^^^^^^^^
