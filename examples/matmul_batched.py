"""GEMM, batched: a third dimension of the grid picks the matrices.

B is given transposed (N x K), as the weights of linear layers often are.

usage: python examples/matmul_batched.py, or tw run examples/matmul_batched.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def matmul_batched(batch, M, N, K, block_M=64, block_N=64, block_K=32, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((batch, M, K), dtype),
        B: T.Tensor((batch, N, K), dtype),
        C: T.Tensor((batch, M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), batch, threads=128) as (
            bx,
            by,
            bz,
        ):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[bz, by * block_M, k * block_K], A_shared)
                T.copy(B[bz, bx * block_N, k * block_K], B_shared)
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            T.copy(C_local, C[bz, by * block_M, bx * block_N])

    return main


def main():
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (3, 100, 64)).astype(np.float16)
    b = rng.integers(-2, 3, (3, 72, 64)).astype(np.float16)
    c = matmul_batched(3, 100, 72, 64)(a, b)
    error = np.abs(c - a.astype(np.float32) @ b.astype(np.float32).swapaxes(1, 2)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
