"""A tile of which one element was filled is stored."""

import numpy as np
import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((4,), "int32")):
    with T.Kernel(1):
        s = T.alloc_shared((4,), "int32")
        s[0] = 1
        T.copy(s, A)


tilelang.compile(main, device="interp")(np.zeros(4, np.int32))


# --- report ---
# unwritten_values_stored.py:13:9: error: the value stored to 'A' at [1] depends on an element that was never written (3 times) [uninitialized]
#    13 |         T.copy(s, A)
#       |         ^^^^^^^^^^^^
