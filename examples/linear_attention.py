"""Linear attention, causal: no softmax, so the past is one matrix, carried from chunk to chunk.

Within a chunk the masked product of queries and keys is computed, before it the state H = Kᵀ V.

usage: python examples/linear_attention.py, or tw run examples/linear_attention.py
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def linear_attention(batch, seq_len, heads, dim, chunk=32, dtype="float16"):
    shape = (batch, seq_len, heads, dim)

    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype),
        K: T.Tensor(shape, dtype),
        V: T.Tensor(shape, dtype),
        Output: T.Tensor(shape, "float32"),
    ):
        with T.Kernel(heads, batch, threads=128) as (bx, by):
            q = T.alloc_shared((chunk, dim), dtype)
            k = T.alloc_shared((chunk, dim), dtype)
            v = T.alloc_shared((chunk, dim), dtype)
            scores = T.alloc_fragment((chunk, chunk), "float32")
            scores_cast = T.alloc_shared((chunk, chunk), dtype)
            state = T.alloc_fragment((dim, dim), "float32")
            state_cast = T.alloc_shared((dim, dim), dtype)
            output = T.alloc_fragment((chunk, dim), "float32")
            T.clear(state)
            for step in T.Pipelined(T.ceildiv(seq_len, chunk), num_stages=1):
                T.copy(Q[by, step * chunk : (step + 1) * chunk, bx, :], q)
                T.copy(K[by, step * chunk : (step + 1) * chunk, bx, :], k)
                T.copy(V[by, step * chunk : (step + 1) * chunk, bx, :], v)
                T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True)
                for i, j in T.Parallel(chunk, chunk):
                    scores_cast[i, j] = T.if_then_else(i >= j, scores[i, j], 0)
                T.clear(output)
                T.gemm(scores_cast, v, output)
                T.copy(state, state_cast)
                T.gemm(q, state_cast, output)  # what came before this chunk
                T.gemm(k, v, state, transpose_A=True)
                T.copy(output, Output[by, step * chunk : (step + 1) * chunk, bx, :])

    return main


def main():
    batch, seq_len, heads, dim = 1, 96, 2, 64
    rng = np.random.default_rng(0)
    q, k, v = rng.integers(-1, 2, (3, batch, seq_len, heads, dim)).astype(np.float16)
    output = linear_attention(batch, seq_len, heads, dim)(q, k, v)
    wide_q, wide_k, wide_v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.tril(np.einsum("bihd,bjhd->bhij", wide_q, wide_k))
    error = np.abs(output - np.einsum("bhij,bjhd->bihd", scores, wide_v)).max()
    print(f"largest error {error}")
    assert error == 0


if __name__ == "__main__":
    main()
