"""GEMM, fp8: 8-bit floats in, float32 out, with one scale for each row of A and column of B.

usage: python examples/matmul_fp8.py, or tw run examples/matmul_fp8.py --device vgpu:sm_90a
"""

import ml_dtypes
import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def matmul_fp8(M, N, K, block_M=64, block_N=64, block_K=64, dtype="float8_e4m3fn"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K), dtype),
        scale_A: T.Tensor((M,), "float32"),
        scale_B: T.Tensor((N,), "float32"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            for i, j in T.Parallel(block_M, block_N):
                C_local[i, j] *= scale_A[by * block_M + i] * scale_B[bx * block_N + j]
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def quantize(x):
    """Rows scaled to the range of e4m3, and the scales."""
    scale = np.abs(x).max(-1) / 448
    return (x / scale[:, None]).astype(ml_dtypes.float8_e4m3fn), scale.astype(np.float32)


def main():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((100, 128)), rng.standard_normal((72, 128))
    (a8, scale_a), (b8, scale_b) = quantize(a), quantize(b)
    c = matmul_fp8(100, 72, 128)(a8, b8, scale_a, scale_b)
    exact = (a8.astype(np.float64) * scale_a[:, None]) @ (b8.astype(np.float64).T * scale_b)
    error = np.abs(c - exact).max()
    lost = np.abs(exact - a @ b.T).max()
    print(f"largest error {error:.1e}; by quantisation {lost:.1e}")
    assert error < 1e-4


if __name__ == "__main__":
    main()
