"""Decoding, latent attention (MLA): all heads share one compressed cache, used as keys and values.

A key is the latent vector and a small rotary part; the value is the latent vector again, so one
tile in shared memory serves both products.

usage: python examples/mla_decode.py, or tw run examples/mla_decode.py --device vgpu:sm_90a
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def mla_decode(batch, heads, keys, dim, rope, block_H=16, block_N=32, dtype="float16"):
    scale = (1.0 / (dim + rope)) ** 0.5 * 1.44269504  # log2(e)

    @T.prim_func
    def main(
        Q: T.Tensor((batch, heads, dim), dtype),
        Q_pe: T.Tensor((batch, heads, rope), dtype),
        KV: T.Tensor((batch, keys, dim), dtype),
        K_pe: T.Tensor((batch, keys, rope), dtype),
        Output: T.Tensor((batch, heads, dim), dtype),
    ):
        with T.Kernel(T.ceildiv(heads, block_H), batch, threads=128) as (bx, by):
            q = T.alloc_shared((block_H, dim), dtype)
            q_pe = T.alloc_shared((block_H, rope), dtype)
            kv = T.alloc_shared((block_N, dim), dtype)
            k_pe = T.alloc_shared((block_N, rope), dtype)
            scores = T.alloc_fragment((block_H, block_N), "float32")
            weights = T.alloc_shared((block_H, block_N), dtype)
            output = T.alloc_fragment((block_H, dim), "float32")
            largest = T.alloc_fragment((block_H,), "float32")
            before = T.alloc_fragment((block_H,), "float32")
            part = T.alloc_fragment((block_H,), "float32")
            total = T.alloc_fragment((block_H,), "float32")
            T.copy(Q[by, bx * block_H, 0], q)
            T.copy(Q_pe[by, bx * block_H, 0], q_pe)
            T.clear(output)
            T.clear(total)
            T.fill(largest, -T.infinity("float32"))
            for step in T.Pipelined(T.ceildiv(keys, block_N), num_stages=2):
                T.copy(KV[by, step * block_N, 0], kv)
                T.copy(K_pe[by, step * block_N, 0], k_pe)
                T.clear(scores)
                T.gemm(q, kv, scores, transpose_B=True)
                T.gemm(q_pe, k_pe, scores, transpose_B=True)
                T.copy(largest, before)
                T.reduce_max(scores, largest, dim=1, clear=False)
                for i, j in T.Parallel(block_H, block_N):
                    scores[i, j] = T.exp2((scores[i, j] - largest[i]) * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_H):
                    before[i] = T.exp2((before[i] - largest[i]) * scale)
                    total[i] = total[i] * before[i] + part[i]
                for i, j in T.Parallel(block_H, dim):
                    output[i, j] *= before[i]
                T.copy(scores, weights)
                T.gemm(weights, kv, output)
            for i, j in T.Parallel(block_H, dim):
                output[i, j] /= total[i]
            T.copy(output, Output[by, bx * block_H, 0])

    return main


def main():
    batch, heads, keys, dim, rope = 2, 16, 96, 128, 32
    rng = np.random.default_rng(0)
    q = rng.standard_normal((batch, heads, dim)).astype(np.float16)
    q_pe = rng.standard_normal((batch, heads, rope)).astype(np.float16)
    kv = rng.standard_normal((batch, keys, dim)).astype(np.float16)
    k_pe = rng.standard_normal((batch, keys, rope)).astype(np.float16)
    output = mla_decode(batch, heads, keys, dim, rope)(q, q_pe, kv, k_pe)
    query = np.concatenate([q, q_pe], -1).astype(np.float64)
    key = np.concatenate([kv, k_pe], -1).astype(np.float64)
    weights = np.exp(np.einsum("bhd,bjd->bhj", query, key) / np.sqrt(dim + rope))
    weights /= weights.sum(-1, keepdims=True)
    error = np.abs(output - np.einsum("bhj,bjd->bhd", weights, kv.astype(np.float64))).max()
    print(f"largest error {error:.1e}")
    assert error < 2e-3


if __name__ == "__main__":
    main()
