"""Two blocks store different values to one element."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "int32")):
    with T.Kernel(2, threads=32) as bx:
        if A[1] == 0:
            A[0] = bx


tilelang.compile(main, device="vgpu:sm_80")(np.zeros(4, np.int32))


# --- report ---
# blocks_write_one_element.py:12:13: error: 'A'[0] is written by thread 0 of block (1, 0, 0) and by thread 0 of block (0, 0, 0), and nothing orders them [race]
#    12 |             A[0] = bx
#       |             ^^^^^^^^^
# note: 'A'+0, 4 bytes: written by thread 0 (ptx:37), written by thread 0 (ptx:37), nothing orders them
#     at ptx:37, block (1,0,0), thread (0,0,0)
#     and ptx:37 (blocks_write_one_element.py:12), block (0,0,0), thread (0,0,0)
