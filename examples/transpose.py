"""Transpose: rows in, columns out, through a shared tile with padded rows.

Both global accesses follow rows of memory; the shared tile is read by columns. With rows of 33
elements a column falls into different banks.

usage: python examples/transpose.py, or tw run examples/transpose.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def transpose(rows, columns, block=32, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((rows, columns), dtype), B: T.Tensor((columns, rows), dtype)):
        with T.Kernel(T.ceildiv(columns, block), T.ceildiv(rows, block), threads=128) as (bx, by):
            tile = T.alloc_shared((block, block), dtype)
            padded = T.Layout((block, block), lambda i, j: [i * (block + 1) + j])
            T.annotate_layout({tile: padded})
            T.copy(A[by * block, bx * block], tile)
            for i, j in T.Parallel(block, block):
                B[bx * block + i, by * block + j] = tile[j, i]

    return main


def main():
    a = np.arange(100 * 70, dtype=np.float32).reshape(100, 70)
    b = transpose(*a.shape)(a)
    assert (b == a.T).all()
    print("equal")


if __name__ == "__main__":
    main()
