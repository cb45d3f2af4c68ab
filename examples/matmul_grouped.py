"""GEMM, grouped: matrices of different heights below each other, each with weights of its own.

Each block finds the group of its tile in the list of first tiles, on the device.

usage: python examples/matmul_grouped.py, or tw run examples/matmul_grouped.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def matmul_grouped(rows, tiles, groups, N, K, block_M=32, block_N=64, block_K=32, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((rows, K), dtype),
        B: T.Tensor((groups, K, N), dtype),
        First: T.Tensor((groups + 1,), "int32"),  # the first row of each group
        FirstTile: T.Tensor((groups + 1,), "int32"),  # and its first tile
        C: T.Tensor((rows, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), tiles, threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            group = T.alloc_var("int32")
            group = 0
            for g in T.serial(groups):
                if by >= FirstTile[g]:
                    group = g
            row = First[group] + (by - FirstTile[group]) * block_M
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[row, k * block_K], A_shared)
                T.copy(B[group, k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            for i, j in T.Parallel(block_M, block_N):
                if row + i < First[group + 1]:  # the tile may reach into the next group
                    C[row + i, bx * block_N + j] = C_local[i, j]

    return main


def main():
    rng = np.random.default_rng(0)
    heights, N, K, block = [50, 7, 64, 33], 96, 64, 32
    first = np.concatenate([[0], np.cumsum(heights)]).astype(np.int32)
    first_tile = np.concatenate([[0], np.cumsum([-(-h // block) for h in heights])])
    a = rng.integers(-2, 3, (first[-1], K)).astype(np.float16)
    b = rng.integers(-2, 3, (len(heights), K, N)).astype(np.float16)
    kernel = matmul_grouped(int(first[-1]), int(first_tile[-1]), len(heights), N, K, block)
    c = kernel(a, b, first, first_tile.astype(np.int32))
    wide, weights = a.astype(np.float32), b.astype(np.float32)
    expected = np.concatenate(
        [wide[first[g] : first[g + 1]] @ weights[g] for g in range(len(heights))]
    )
    error = np.abs(c - expected).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
