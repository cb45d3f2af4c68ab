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

tilelang.compile(main, device="interp")(np.array([0, 1, 2, 9], np.int32), np.zeros(4, np.int32))


# --- report ---
# run_time_index_out_of_range.py:14:13: error: read of 's' at [9] is outside its extents (4) [out_of_bounds]
#    14 |             B[k] = s[I[k]]
#       |             ^^^^^^^^^^^^^^
