"""The forward pass that the seed's backward kernel starts from, as a tile program.

Causal grouped-query attention, one block of queries after another: a running maximum and a running
sum of each row, so that no score matrix is ever whole. `lse` is the logarithm (base 2) of the sum
of each row's weights, as the backward kernel takes it.
"""

import tilewright
import tilewright.language as T


@tilewright.jit(pass_configs={"tl.enable_fast_math": True})
def attention_forward(batch, heads, seq_len, dim, groups, block=64, dtype="float16"):
    """Attention of Q, K, V into Out, and lse."""
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)
    q_shape = [batch, heads, seq_len, dim]
    kv_shape = [batch, heads // groups, seq_len, dim]

    @T.prim_func
    def forward(
        Q: T.Tensor(q_shape, dtype),
        K: T.Tensor(kv_shape, dtype),
        V: T.Tensor(kv_shape, dtype),
        Out: T.Tensor(q_shape, dtype),
        lse: T.Tensor([batch, heads, seq_len], "float32"),
    ):
        with T.Kernel(T.ceildiv(seq_len, block), heads, batch, threads=128) as (bx, by, bz):
            q = T.alloc_shared([block, dim], dtype)
            k = T.alloc_shared([block, dim], dtype)
            v = T.alloc_shared([block, dim], dtype)
            scores = T.alloc_fragment([block, block], "float32")
            weights = T.alloc_fragment([block, block], dtype)
            out = T.alloc_fragment([block, dim], "float32")
            largest = T.alloc_fragment([block], "float32")
            before = T.alloc_fragment([block], "float32")
            shrink = T.alloc_fragment([block], "float32")
            row_sum = T.alloc_fragment([block], "float32")
            total = T.alloc_fragment([block], "float32")

            T.copy(Q[bz, by, bx * block : (bx + 1) * block, :], q)
            T.clear(out)
            T.clear(total)
            T.fill(largest, -T.infinity("float32"))
            for step in T.Pipelined(bx + 1, num_stages=1):
                T.copy(K[bz, by // groups, step * block : (step + 1) * block, :], k)
                T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True)
                for i, j in T.Parallel(block, block):
                    scores[i, j] = T.if_then_else(
                        bx * block + i >= step * block + j,
                        scores[i, j] * scale,
                        -T.infinity("float32"),
                    )
                T.copy(largest, before)
                T.reduce_max(scores, largest, dim=1, clear=False)
                for i in T.Parallel(block):
                    shrink[i] = T.exp2(before[i] - largest[i])
                for i, j in T.Parallel(block, block):
                    scores[i, j] = T.exp2(scores[i, j] - largest[i])
                T.reduce_sum(scores, row_sum, dim=1)
                for i in T.Parallel(block):
                    total[i] = total[i] * shrink[i] + row_sum[i]
                for i, j in T.Parallel(block, dim):
                    out[i, j] = out[i, j] * shrink[i]
                T.copy(scores, weights)
                T.copy(V[bz, by // groups, step * block : (step + 1) * block, :], v)
                T.gemm(weights, v, out)
            for i, j in T.Parallel(block, dim):
                out[i, j] = out[i, j] / total[i]
            T.copy(out, Out[bz, by, bx * block : (bx + 1) * block, :])
            for i in T.Parallel(block):
                total[i] = T.log2(total[i]) + largest[i]
            T.copy(total, lse[bz, by, bx * block : (bx + 1) * block])

    return forward
