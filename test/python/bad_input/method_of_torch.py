"""An element is converted as torch does it."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        f = T.alloc_fragment((64,), "float32")
        T.copy(A, f)
        for i in T.Parallel(64):
            f[i] = f[i].to("float16")
        T.copy(f, B)


tilelang.compile(main)(np.ones(64, np.float32), np.ones(64, np.float32))


# --- report ---
# method_of_torch.py:14:20: error: values of a kernel have no attribute 'to'; use T.cast
#    14 |             f[i] = f[i].to("float16")
#       |                    ^^^^^^^
