"""Convolution: a GEMM whose operand A is gathered from the image (im2col), tile by tile.

The rows of A are output pixels, its columns are (row of the filter, column, channel).
`T.c2d_im2col` fills a shared tile with a part of it; pixels outside of the image are zero.

usage: python examples/convolution.py, or tw run examples/convolution.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def convolution(
    N, C, H, W, F, K=3, S=1, D=1, P=1, block_M=64, block_N=32, block_K=32, dtype="float16"
):
    OH = (H + 2 * P - D * (K - 1) - 1) // S + 1
    OW = (W + 2 * P - D * (K - 1) - 1) // S + 1

    @T.prim_func
    def main(
        data: T.Tensor((N, H, W, C), dtype),
        kernel: T.Tensor((K, K, C, F), dtype),
        out: T.Tensor((N, OH, OW, F), "float32"),
    ):
        with T.Kernel(T.ceildiv(F, block_N), T.ceildiv(N * OH * OW, block_M), threads=128) as (
            bx,
            by,
        ):
            data_shared = T.alloc_shared((block_M, block_K), dtype)
            kernel_shared = T.alloc_shared((block_K, block_N), dtype)
            out_local = T.alloc_fragment((block_M, block_N), "float32")
            kernel_flat = T.Tensor((K * K * C, F), dtype, kernel.data)
            out_flat = T.Tensor((N * OH * OW, F), "float32", out.data)
            T.clear(out_local)
            for k in T.Pipelined(T.ceildiv(K * K * C, block_K), num_stages=2):
                T.c2d_im2col(data, data_shared, by, k, K, S, D, P)
                T.copy(kernel_flat[k * block_K, bx * block_N], kernel_shared)
                T.gemm(data_shared, kernel_shared, out_local)
            T.copy(out_local, out_flat[by * block_M, bx * block_N])

    return main


def reference(data, kernel, pad=1):
    """The same by numpy: a sum over the positions of the filter."""
    size = kernel.shape[0]
    padded = np.pad(data, ((0, 0), (pad, pad), (pad, pad), (0, 0))).astype(np.float32)
    rows, columns = data.shape[1:3]
    return sum(
        padded[:, y : y + rows, x : x + columns] @ kernel[y, x].astype(np.float32)
        for y in range(size)
        for x in range(size)
    )


def main():
    rng = np.random.default_rng(0)
    data = rng.integers(-2, 3, (2, 10, 12, 32)).astype(np.float16)
    kernel = rng.integers(-2, 3, (3, 3, 32, 48)).astype(np.float16)
    out = convolution(2, 32, 10, 12, 48)(data, kernel)
    error = np.abs(out - reference(data, kernel)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
