"""An array that cannot be written."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((8,), "int32")):
    with T.Kernel(1):
        A[0] = 1

frozen = np.zeros(8, np.int32)
frozen.flags.writeable = False
tilelang.compile(main)(frozen)


# --- report ---
# call_with_read_only_array.py:15:1: error: parameter 'A': the kernel writes it, got a read-only tensor; pass a writable copy
#    15 | tilelang.compile(main)(frozen)
#       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
