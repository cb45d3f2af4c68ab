"""A kind of inputs is a member of TensorSupplyType."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        T.copy(A, C)
k = tilelang.compile(main)
k.get_profiler("random")


# --- report ---
# profiler_of_unknown_inputs.py:13:1: error: unknown kind of inputs 'random'; use a member of tilelang.TensorSupplyType: Integer, Uniform, Normal, Randn, Zero, One, Auto
#    13 | k.get_profiler("random")
#       | ^^^^^^^^^^^^^^^^^^^^^^^^
