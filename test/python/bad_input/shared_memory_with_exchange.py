"""A tile that fits alone, and a reduction across warps that needs memory of its own."""

import tilewright
import tilewright.language as T


@T.prim_func
def main(A: T.Tensor((4, 4096), "float32"), B: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=256):
        tile = T.alloc_shared((41728,), "float32")
        f = T.alloc_fragment((4, 4096), "float32")
        sums = T.alloc_fragment((4,), "float32")
        T.clear(tile)
        T.copy(A, f)
        T.reduce_sum(f, sums, dim=1)
        T.copy(sums, B)
        T.copy(tile[0:4], B)


tilewright.compile(main, target="sm_80")


# --- report ---
# shared_memory_with_exchange.py:9:5: error: kernel needs 171008 bytes of shared memory, sm_80 allows 166912; take smaller tiles
#     9 |     with T.Kernel(1, threads=256):
#       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
# shared_memory_with_exchange.py:10:9: note: 'tile' takes 166912 bytes
# shared_memory_with_exchange.py:15:9: note: threads exchange 4096 bytes in this statement
