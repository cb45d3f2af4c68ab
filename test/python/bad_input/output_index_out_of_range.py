"""`out_idx` names a parameter that does not exist."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def make(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "int32")):
        with T.Kernel(1):
            A[0] = 1
    return main

make(8)


# --- report ---
# output_index_out_of_range.py:15:1: error: out_idx 2 is out of range; number of parameters: 1
#    15 | make(8)
#       | ^^^^^^^
