"""GEMM, split-K: several blocks share one tile of the result and add their parts atomically.

For a small result and a long K, where one block for each tile would leave most of a GPU idle.

usage: python examples/matmul_split_k.py, or tw run examples/matmul_split_k.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit
def matmul_split_k(M, N, K, split_k=4, block_M=64, block_N=64, block_K=32, dtype="float16"):
    depth = K // split_k

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), split_k, threads=128) as (
            bx,
            by,
            bz,
        ):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(depth, block_K), num_stages=2):
                T.copy(A[by * block_M, bz * depth + k * block_K], A_shared)
                T.copy(B[bz * depth + k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            for i, j in T.Parallel(block_M, block_N):
                T.atomic_add(C[by * block_M + i, bx * block_N + j], C_local[i, j])

    return main


def main():
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (64, 512)).astype(np.float16)
    b = rng.integers(-2, 3, (512, 128)).astype(np.float16)
    c = np.zeros((64, 128), np.float32)  # the parts are added to it
    matmul_split_k(64, 128, 512)(a, b, c)
    error = np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
