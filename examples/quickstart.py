"""A first kernel: C = relu(A @ B), in tiles of 64 x 64.

python examples/quickstart.py
"""

import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit(out_idx=[-1])
def matmul_relu(M, N, K, block=64, dtype="float16", accum_dtype="float32"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            A_tile = T.alloc_shared((block, 32), dtype)
            B_tile = T.alloc_shared((32, block), dtype)
            acc = T.alloc_fragment((block, block), accum_dtype)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                T.copy(A[by * block, k * 32], A_tile)
                T.copy(B[k * 32, bx * block], B_tile)
                T.gemm(A_tile, B_tile, acc)
            for i, j in T.Parallel(block, block):
                acc[i, j] = T.max(acc[i, j], 0)
            T.copy(acc, C[by * block, bx * block])

    return main


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    a = rng.standard_normal((100, 72)).astype(np.float16)
    b = rng.standard_normal((72, 130)).astype(np.float16)

    kernel = matmul_relu(100, 130, 72)
    c = kernel(a, b)

    expected = np.maximum(a.astype(np.float32) @ b.astype(np.float32), 0)
    print(f"largest error: {np.abs(c - expected).max():.4f} of {np.abs(expected).max():.1f}")
