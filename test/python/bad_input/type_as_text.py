"""A type in quotes is still Python."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: "float32[64]", C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1, threads=128) as bx:
        C[0, 0] = 1.0

a = np.ones((64, 64), np.float16); b = np.ones((64, 64), np.float16); c = np.zeros((64, 64), np.float32)
k = tilelang.compile(main)
k(a, b, c)


# --- report ---
# type_as_text.py:8:2: error: the type of parameter 'A', 'float32[64]', is no expression of Python: name 'float32' is not defined; write 'A: T.Tensor((M, N), "float16")'
#     8 | @T.prim_func
#       |  ^^^^^^^^^^^
