"""GEMM, persistent: as many blocks as the GPU has processors, each takes several tiles in turn.

`T.Persistent` walks over the tiles of the grid; a block starts again without a new launch.

usage: python examples/matmul_persistent.py, or tw run examples/matmul_persistent.py --device cpu
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def matmul_persistent(M, N, K, processors=5, block_M=64, block_N=64, block_K=32, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")
    ):
        with T.Kernel(processors, threads=128) as block_id:
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            for bx, by in T.Persistent(
                [T.ceildiv(M, block_M), T.ceildiv(N, block_N)], processors, block_id
            ):
                T.clear(C_local)
                for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                    T.copy(A[bx * block_M, k * block_K], A_shared)
                    T.copy(B[k * block_K, by * block_N], B_shared)
                    T.gemm(A_shared, B_shared, C_local)
                T.copy(C_local, C[bx * block_M, by * block_N])

    return main


def main():
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (200, 64)).astype(np.float16)
    b = rng.integers(-2, 3, (64, 260)).astype(np.float16)
    c = matmul_persistent(200, 260, 64)(a, b)
    error = np.abs(c - a.astype(np.float32) @ b.astype(np.float32)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
