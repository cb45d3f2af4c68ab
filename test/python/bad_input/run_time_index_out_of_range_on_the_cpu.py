"""An on-chip tile is indexed beyond its end when the kernel runs."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(I: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((4,), "int32")
        T.clear(s)
        for k in T.serial(4):
            B[k] = s[I[k]]

tilelang.compile(main)(np.array([0, 1, 2, 9], np.int32), np.zeros(4, np.int32))


# --- report ---
# run_time_index_out_of_range_on_the_cpu.py:14:13: error: 's': index 9 is out of bounds for dimension 0, which has 4 elements
#    14 |             B[k] = s[I[k]]
#       |             ^^^^^^^^^^^^^^
