"""Sorting is not a statement, nor a slip for a square root."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        f = T.alloc_fragment((64,), "float32")
        T.copy(A, f)
        T.sort(f)
        T.copy(f, B)


tilelang.compile(main)(np.ones(64, np.float32), np.ones(64, np.float32))


# --- report ---
# name_of_numpy_sort.py:13:9: error: the language has no 'T.sort'; nothing sorts a tile; examples/top_k.py picks its largest elements
#    13 |         T.sort(f)
#       |         ^^^^^^
