"""Softmax: one block for each group of rows, in three steps on a tile in registers.

usage: python examples/softmax.py, or tw run examples/softmax.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def softmax(rows, columns, block=4, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((rows, columns), dtype), Y: T.Tensor((rows, columns), dtype)):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, columns), dtype)
            largest = T.alloc_fragment((block,), dtype)
            total = T.alloc_fragment((block,), dtype)
            T.copy(X[bx * block, 0], x)
            T.reduce_max(x, largest, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = T.exp(x[i, j] - largest[i])
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[bx * block, 0])

    return main


def reference(x):
    """The same by numpy, in float64."""
    weights = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def main():
    x = np.random.default_rng(0).standard_normal((30, 256)).astype(np.float32) * 4
    error = np.abs(softmax(*x.shape)(x) - reference(x)).max()
    print(f"largest error {error:.1e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
