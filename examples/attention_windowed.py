"""Attention, windowed: a query sees itself and the `window - 1` keys before it.

Tiles of keys outside of the window are not even loaded.

usage: python examples/attention_windowed.py, or tw run examples/attention_windowed.py
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def attention_windowed(batch, heads, seq_len, dim, window, block_M=64, block_N=32, dtype="float16"):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)

    @T.prim_func
    def main(
        Q: T.Tensor((batch, seq_len, heads, dim), dtype),
        K: T.Tensor((batch, seq_len, heads, dim), dtype),
        V: T.Tensor((batch, seq_len, heads, dim), dtype),
        Output: T.Tensor((batch, seq_len, heads, dim), dtype),
    ):
        with T.Kernel(T.ceildiv(seq_len, block_M), heads, batch, threads=128) as (bx, by, bz):
            Q_shared = T.alloc_shared((block_M, dim), dtype)
            K_shared = T.alloc_shared((block_N, dim), dtype)
            V_shared = T.alloc_shared((block_N, dim), dtype)
            scores = T.alloc_fragment((block_M, block_N), "float32")
            weights = T.alloc_fragment((block_M, block_N), dtype)
            output = T.alloc_fragment((block_M, dim), "float32")
            largest = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")

            T.copy(Q[bz, bx * block_M : (bx + 1) * block_M, by, :], Q_shared)
            T.clear(output)
            T.clear(total)
            T.fill(largest, -T.infinity("float32"))
            first = T.max(0, bx * block_M - window + 1) // block_N
            last = T.ceildiv(T.min(seq_len, (bx + 1) * block_M), block_N)
            for step in T.Pipelined(last - first, num_stages=1):
                k = first + step
                T.copy(K[bz, k * block_N : (k + 1) * block_N, by, :], K_shared)
                for i, j in T.Parallel(block_M, block_N):
                    back = bx * block_M + i - (k * block_N + j)
                    scores[i, j] = T.if_then_else((back >= 0) & (back < window), 0, -1e9)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True)
                T.copy(largest, before)
                T.reduce_max(scores, largest, dim=1, clear=False)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2((scores[i, j] - largest[i]) * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_M):
                    before[i] = T.exp2((before[i] - largest[i]) * scale)
                    total[i] = total[i] * before[i] + part[i]
                for i, j in T.Parallel(block_M, dim):
                    output[i, j] *= before[i]
                T.copy(scores, weights)
                T.copy(V[bz, k * block_N : (k + 1) * block_N, by, :], V_shared)
                T.gemm(weights, V_shared, output)
            for i, j in T.Parallel(block_M, dim):
                output[i, j] /= total[i]
            T.copy(output, Output[bz, bx * block_M : (bx + 1) * block_M, by, :])

    return main


def reference(q, k, v, window):
    """The same by numpy, in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])
    back = np.arange(q.shape[1])[:, None] - np.arange(q.shape[1])
    scores = np.where((back >= 0) & (back < window), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhij,bjhd->bihd", weights / weights.sum(-1, keepdims=True), v)


def main():
    batch, heads, seq_len, dim, window = 1, 2, 160, 64, 50
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, batch, seq_len, heads, dim)).astype(np.float16)
    output = attention_windowed(batch, heads, seq_len, dim, window)(q, k, v)
    error = np.abs(output - reference(q, k, v, window)).max()
    print(f"largest error {error:.1e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
