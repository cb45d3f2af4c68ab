"""Layer norm: mean and variance of each row, then scale and shift for each column.

Two outputs beside the result (mean and reciprocal deviation), as a backward pass needs them.

usage: python examples/layer_norm.py, or tw run examples/layer_norm.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[3, 4, 5])
def layer_norm(rows, columns, eps=1e-5, block=4, dtype="float32"):
    @T.prim_func
    def main(
        X: T.Tensor((rows, columns), dtype),
        W: T.Tensor((columns,), dtype),
        B: T.Tensor((columns,), dtype),
        Y: T.Tensor((rows, columns), dtype),
        Mean: T.Tensor((rows,), dtype),
        Rstd: T.Tensor((rows,), dtype),
    ):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, columns), dtype)
            squares = T.alloc_fragment((block, columns), dtype)
            mean = T.alloc_fragment((block,), dtype)
            rstd = T.alloc_fragment((block,), dtype)
            T.copy(X[bx * block, 0], x)
            T.reduce_sum(x, mean, dim=1)
            for i in T.Parallel(block):
                mean[i] = mean[i] / columns
            for i, j in T.Parallel(block, columns):
                x[i, j] = x[i, j] - mean[i]
                squares[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(squares, rstd, dim=1)
            for i in T.Parallel(block):
                rstd[i] = T.rsqrt(rstd[i] / columns + eps)
            for i, j in T.Parallel(block, columns):
                x[i, j] = x[i, j] * rstd[i] * W[j] + B[j]
            T.copy(x, Y[bx * block, 0])
            T.copy(mean, Mean[bx * block])
            T.copy(rstd, Rstd[bx * block])

    return main


def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 256)).astype(np.float32)
    w, b = rng.standard_normal((2, 256)).astype(np.float32)
    y, mean, rstd = layer_norm(*x.shape)(x, w, b)
    wide = x.astype(np.float64)
    deviation = 1 / np.sqrt(wide.var(-1) + 1e-5)
    expected = (wide - wide.mean(-1, keepdims=True)) * deviation[:, None] * w + b
    errors = [
        np.abs(got - wanted).max()
        for got, wanted in ((y, expected), (mean, wide.mean(-1)), (rstd, deviation))
    ]
    print(f"largest error {max(errors):.1e}")
    assert max(errors) < 1e-5


if __name__ == "__main__":
    main()
