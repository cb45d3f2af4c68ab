"""Attention, grouped queries: several heads of queries share one head of keys and values.

usage: python examples/attention_gqa.py, or tw run examples/attention_gqa.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def attention_gqa(batch, heads, groups, seq_len, dim, block_M=64, block_N=64, dtype="float16"):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)
    shared_by = heads // groups

    @T.prim_func
    def main(
        Q: T.Tensor((batch, seq_len, heads, dim), dtype),
        K: T.Tensor((batch, seq_len, groups, dim), dtype),
        V: T.Tensor((batch, seq_len, groups, dim), dtype),
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
            for k in T.Pipelined(T.ceildiv(seq_len, block_N), num_stages=1):
                T.copy(K[bz, k * block_N : (k + 1) * block_N, by // shared_by, :], K_shared)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.if_then_else(
                        k * block_N + j < seq_len, 0, -T.infinity("float32")
                    )
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
                T.copy(V[bz, k * block_N : (k + 1) * block_N, by // shared_by, :], V_shared)
                T.gemm(weights, V_shared, output)
            for i, j in T.Parallel(block_M, dim):
                output[i, j] /= total[i]
            T.copy(output, Output[bz, bx * block_M : (bx + 1) * block_M, by, :])

    return main


def reference(q, k, v):
    """The same by numpy, in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhij,bjhd->bihd", weights / weights.sum(-1, keepdims=True), v)


def main():
    batch, heads, groups, seq_len, dim = 1, 4, 2, 100, 64
    rng = np.random.default_rng(0)
    q = rng.standard_normal((batch, seq_len, heads, dim)).astype(np.float16)
    k, v = rng.standard_normal((2, batch, seq_len, groups, dim)).astype(np.float16)
    output = attention_gqa(batch, heads, groups, seq_len, dim)(q, k, v)
    error = np.abs(output - reference(q, k, v)).max()
    print(f"largest error {error:.1e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
