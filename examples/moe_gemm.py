"""Mixture of experts, GEMM: the rows of an expert are gathered by a list and multiplied.

The rows of a tile of A come from anywhere, so they are copied element by element; the result is
scaled by the weight of the token and added to its row.

usage: python examples/moe_gemm.py, or tw run examples/moe_gemm.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit
def moe_gemm(tokens, experts, N, K, block_M=32, block_N=64, block_K=32, dtype="float16"):
    @T.prim_func
    def main(
        X: T.Tensor((tokens, K), dtype),
        W: T.Tensor((experts, K, N), dtype),
        Count: T.Tensor((experts,), "int32"),
        List: T.Tensor((experts, tokens), "int32"),  # the tokens of each expert
        Weight: T.Tensor((experts, tokens), "float32"),
        Y: T.Tensor((tokens, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(tokens, block_M), experts, threads=128) as (
            bx,
            by,
            bz,
        ):
            x = T.alloc_shared((block_M, block_K), dtype)
            w = T.alloc_shared((block_K, block_N), dtype)
            y = T.alloc_fragment((block_M, block_N), "float32")
            if by * block_M < Count[bz]:
                T.clear(y)
                for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                    for i, j in T.Parallel(block_M, block_K):
                        x[i, j] = T.if_then_else(
                            by * block_M + i < Count[bz],
                            X[List[bz, by * block_M + i], k * block_K + j],
                            0,
                        )
                    T.copy(W[bz, k * block_K, bx * block_N], w)
                    T.gemm(x, w, y)
                for i, j in T.Parallel(block_M, block_N):
                    if by * block_M + i < Count[bz]:
                        T.atomic_add(
                            Y[List[bz, by * block_M + i], bx * block_N + j],
                            y[i, j] * Weight[bz, by * block_M + i],
                        )

    return main


def main():
    tokens, experts, N, K = 70, 4, 96, 64
    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, (tokens, K)).astype(np.float16)
    w = rng.integers(-2, 3, (experts, K, N)).astype(np.float16)
    chosen = rng.random((experts, tokens)) < 0.5
    count = chosen.sum(1).astype(np.int32)
    lists = np.zeros((experts, tokens), np.int32)
    for expert in range(experts):
        lists[expert, : count[expert]] = np.flatnonzero(chosen[expert])
    weight = (2.0 ** rng.integers(-3, 1, (experts, tokens))).astype(np.float32)
    y = np.zeros((tokens, N), np.float32)
    moe_gemm(tokens, experts, N, K)(x, w, count, lists, weight, y)
    expected = np.zeros((tokens, N))
    for expert in range(experts):
        rows = lists[expert, : count[expert]]
        product = x[rows].astype(np.float64) @ w[expert].astype(np.float64)
        expected[rows] += product * weight[expert, : count[expert], None]
    error = np.abs(y - expected).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
