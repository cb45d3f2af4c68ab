"""Each block writes its own sums to the same row."""

import tilelang
import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((512, 64), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(8, threads=64) as bx:
        a = T.alloc_shared((64, 64), "float32")
        total = T.alloc_fragment((64,), "float32")
        T.copy(A[bx * 64, 0], a)
        T.reduce_sum(a, total, dim=0)
        T.copy(total, B)


tilelang.compile(main)


# --- report ---
# blocks_write_one_row.py:14:9: error: blocks (0) and (1) both write 'B'[0], each with a value of its own; index it by the block, or use T.atomic_add
#    14 |         T.copy(total, B)
#       |         ^^^^^^^^^^^^^^^^
