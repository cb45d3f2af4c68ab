"""GEMM, block-sparse: a mask says which steps of each tile to take; others are skipped.

usage: python examples/block_sparse_matmul.py, or tw run examples/block_sparse_matmul.py
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def block_sparse_matmul(M, N, K, block_M=64, block_N=64, block_K=32, dtype="float16"):
    grid = (M // block_M, N // block_N, K // block_K)

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        Mask: T.Tensor(grid, "bool"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(grid[1], grid[0], threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(grid[2], num_stages=2):
                if Mask[by, bx, k]:
                    T.copy(A[by * block_M, k * block_K], A_shared)
                    T.copy(B[k * block_K, bx * block_N], B_shared)
                    T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main():
    M, N, K = 128, 192, 128
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (M, K)).astype(np.float16)
    b = rng.integers(-2, 3, (K, N)).astype(np.float16)
    mask = rng.random((2, 3, 4)) < 0.5
    c = block_sparse_matmul(M, N, K)(a, b, mask)
    tiles_a = a.astype(np.float32).reshape(2, 64, 4, 32)
    tiles_b = b.astype(np.float32).reshape(4, 32, 3, 64)
    expected = np.einsum("mikl,klnj,mnk->minj", tiles_a, tiles_b, mask).reshape(M, N)
    error = np.abs(c - expected).max()
    print(f"largest error {error}; {mask.sum()} of {mask.size} steps taken")
    assert error == 0


if __name__ == "__main__":
    main()
