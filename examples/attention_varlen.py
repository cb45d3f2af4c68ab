"""Attention, variable length: sequences of different lengths below each other, without padding.

`Start` has the first row of each sequence. A block that lies beyond the end of its sequence has
nothing to do.

usage: python examples/attention_varlen.py, or tw run examples/attention_varlen.py
"""

import itertools

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def attention_varlen(batch, heads, rows, longest, dim, block_M=64, block_N=64, dtype="float16"):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)

    @T.prim_func
    def main(
        Q: T.Tensor((rows, heads, dim), dtype),
        K: T.Tensor((rows, heads, dim), dtype),
        V: T.Tensor((rows, heads, dim), dtype),
        Start: T.Tensor((batch + 1,), "int32"),
        Output: T.Tensor((rows, heads, dim), dtype),
    ):
        with T.Kernel(T.ceildiv(longest, block_M), heads, batch, threads=128) as (bx, by, bz):
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

            start = Start[bz]
            length = Start[bz + 1] - start
            q_start = start + bx * block_M
            T.copy(Q[q_start : q_start + block_M, by, :], Q_shared)
            T.clear(output)
            T.clear(total)
            T.fill(largest, -T.infinity("float32"))
            for k in T.Pipelined(T.ceildiv(length, block_N), num_stages=1):
                k_start = start + k * block_N
                T.copy(K[k_start : k_start + block_N, by, :], K_shared)
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.if_then_else(
                        k * block_N + j < length, 0, -T.infinity("float32")
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
                T.copy(V[k_start : k_start + block_N, by, :], V_shared)
                T.gemm(weights, V_shared, output)
            for i, j in T.Parallel(block_M, dim):
                if bx * block_M + i < length:  # what follows belongs to the next sequence
                    Output[q_start + i, by, j] = output[i, j] / total[i]

    return main


def reference(q, k, v):
    """One sequence by numpy, in float64."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    weights = np.exp(np.einsum("ihd,jhd->hij", q, k) / np.sqrt(q.shape[-1]))
    return np.einsum("hij,jhd->ihd", weights / weights.sum(-1, keepdims=True), v)


def main():
    lengths, heads, dim = [70, 1, 130], 2, 64
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, int(start[-1]), heads, dim)).astype(np.float16)
    kernel = attention_varlen(len(lengths), heads, int(start[-1]), max(lengths), dim)
    output = kernel(q, k, v, start)
    errors = []
    for first, end in itertools.pairwise(start):
        expected = reference(q[first:end], k[first:end], v[first:end])
        errors.append(np.abs(output[first:end] - expected).max())
    print(f"largest error {max(errors):.1e}")
    assert max(errors) < 2e-3


if __name__ == "__main__":
    main()
