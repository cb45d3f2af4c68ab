"""RMS norm: rows divided by their root mean square, times a weight for each column.

Inputs and outputs are float16; the sum of squares is computed in float32.

usage: python examples/rms_norm.py, or tw run examples/rms_norm.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def rms_norm(rows, columns, eps=1e-5, block=4, dtype="float16"):
    @T.prim_func
    def main(
        X: T.Tensor((rows, columns), dtype),
        W: T.Tensor((columns,), dtype),
        Y: T.Tensor((rows, columns), dtype),
    ):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, columns), "float32")
            squares = T.alloc_fragment((block, columns), "float32")
            scale = T.alloc_fragment((block,), "float32")
            T.copy(X[bx * block, 0], x)
            for i, j in T.Parallel(block, columns):
                squares[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(squares, scale, dim=1)
            for i in T.Parallel(block):
                scale[i] = T.rsqrt(scale[i] / columns + eps)
            for i, j in T.Parallel(block, columns):
                x[i, j] = x[i, j] * scale[i] * W[j]
            T.copy(x, Y[bx * block, 0])

    return main


def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 256)).astype(np.float16)
    w = rng.standard_normal(256).astype(np.float16)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * w
    error = np.abs(rms_norm(*x.shape)(x, w) - expected).max()
    print(f"largest error {error:.1e}")
    assert error < 1e-2


if __name__ == "__main__":
    main()
