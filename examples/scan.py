"""Scan: running sums of a long vector, in three kernels that one call launches.

The first computes running sums of each block and their totals, the second the running sums of the
totals, the third adds them.

usage: python examples/scan.py, or tw run examples/scan.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[1])
def scan(n, block=256, dtype="int32"):
    blocks = (n + block - 1) // block

    @T.prim_func
    def main(X: T.Tensor((n,), dtype), Y: T.Tensor((n,), dtype), Total: T.Tensor((blocks,), dtype)):
        with T.Kernel(blocks, threads=128) as bx:
            x = T.alloc_shared((block,), dtype)
            T.copy(X[bx * block], x)
            T.cumsum(x, dim=0)
            T.copy(x, Y[bx * block])
            Total[bx] = x[block - 1]
        with T.Kernel(1, threads=128):
            total = T.alloc_shared((blocks,), dtype)
            T.copy(Total, total)
            T.cumsum(total, dim=0)
            T.copy(total, Total)
        with T.Kernel(blocks, threads=128) as bx:
            for i in T.Parallel(block):
                if bx > 0:
                    Y[bx * block + i] += Total[bx - 1]

    return main


def main():
    n, block = 3000, 256
    x = np.random.default_rng(0).integers(-9, 10, n).astype(np.int32)
    y = scan(n, block)(x, np.zeros((n + block - 1) // block, np.int32))
    assert (y == np.cumsum(x)).all()
    print(f"equal: {n} running sums")


if __name__ == "__main__":
    main()
