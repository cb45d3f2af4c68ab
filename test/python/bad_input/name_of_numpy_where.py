"""A name of numpy that TVM has for other things."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        f = T.alloc_fragment((64,), "float32")
        T.copy(A, f)
        for i in T.Parallel(64):
            f[i] = T.where(f[i] > 0, f[i], 0.0)
        T.copy(f, B)


tilelang.compile(main)(np.ones(64, np.float32), np.ones(64, np.float32))


# --- report ---
# name_of_numpy_where.py:14:20: error: 'T.where' is not supported yet: use T.if_then_else
#    14 |             f[i] = T.where(f[i] > 0, f[i], 0.0)
#       |                    ^^^^^^^
