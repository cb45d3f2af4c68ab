"""GEMM, int4 weights: two 4-bit weights in a byte, unpacked and scaled on the way to the product.

Each row of the weights has one scale for every 32 of them.

usage: python examples/matmul_dequant_int4.py, or tw run examples/matmul_dequant_int4.py
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def matmul_dequant_int4(M, N, K, group=32, block_M=32, block_N=64, block_K=64, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K // 2), "uint8"),
        Scale: T.Tensor((N, K // group), dtype),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            packed = T.alloc_shared((block_N, block_K // 2), "uint8")
            B_shared = T.alloc_shared((block_N, block_K), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[bx * block_N, k * block_K // 2], packed)
                for i, j in T.Parallel(block_N, block_K):
                    nibble = (packed[i, j // 2] >> (4 * (j % 2)).astype("uint8")) & 15
                    weight = nibble.astype("int32") - 8
                    scale = Scale[bx * block_N + i, (k * block_K + j) // group]
                    B_shared[i, j] = weight.astype(dtype) * scale
                T.gemm(A_shared, B_shared, C_local, transpose_B=True)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def main():
    rng = np.random.default_rng(0)
    M, N, K, group = 40, 72, 128, 32
    a = rng.integers(-2, 3, (M, K)).astype(np.float16)
    weights = rng.integers(0, 16, (N, K)).astype(np.uint8)
    packed = weights[:, ::2] | weights[:, 1::2] << 4
    scale = (2.0 ** rng.integers(-3, 2, (N, K // group))).astype(np.float16)
    c = matmul_dequant_int4(M, N, K, group)(a, packed, scale)
    wide = (weights.astype(np.float32) - 8) * np.repeat(scale.astype(np.float32), group, axis=1)
    error = np.abs(c - a.astype(np.float32) @ wide.T).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
