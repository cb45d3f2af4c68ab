"""A layer of networks is not a statement."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        f = T.alloc_fragment((64,), "float32")
        T.copy(A, f)
        T.softmax(f)
        T.copy(f, B)


tilelang.compile(main)(np.ones(64, np.float32), np.ones(64, np.float32))


# --- report ---
# name_of_a_network_layer.py:13:9: error: the language has no 'T.softmax'; write it with T.reduce_max, T.exp and T.reduce_sum
#    13 |         T.softmax(f)
#       |         ^^^^^^^^^
