"""Vector add: the smallest kernel, one tile of a vector for each block.

The length need not be a multiple of the tile: reads beyond the end give zero, writes are dropped.

usage: python examples/vector_add.py, or tw run examples/vector_add.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def vector_add(n, block=256, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype), C: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, block), threads=128) as bx:
            for i in T.Parallel(block):
                C[bx * block + i] = A[bx * block + i] + B[bx * block + i]

    return main


def main():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1000)).astype(np.float32)
    c = vector_add(1000)(a, b)
    error = np.abs(c - (a + b)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
