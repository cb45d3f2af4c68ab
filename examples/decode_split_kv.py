"""Decoding, split keys: one query against a long cache, which several blocks share.

The first kernel computes attention over a part of the keys with its maximum and sum, the second one
combines the parts. The heads of a group fill the rows of a tile.

usage: python examples/decode_split_kv.py, or tw run examples/decode_split_kv.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[5])
def decode_split_kv(batch, heads, keys, dim, splits=4, block_H=16, block_N=32, dtype="float16"):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)
    share = keys // splits

    @T.prim_func
    def main(
        Q: T.Tensor((batch, heads, dim), dtype),
        K: T.Tensor((batch, keys, dim), dtype),
        V: T.Tensor((batch, keys, dim), dtype),
        Part: T.Tensor((batch, heads, splits, dim), "float32"),
        PartLse: T.Tensor((batch, heads, splits), "float32"),
        Output: T.Tensor((batch, heads, dim), dtype),
    ):
        with T.Kernel(batch, T.ceildiv(heads, block_H), splits, threads=128) as (bx, by, bz):
            q = T.alloc_shared((block_H, dim), dtype)
            k_tile = T.alloc_shared((block_N, dim), dtype)
            v_tile = T.alloc_shared((block_N, dim), dtype)
            scores = T.alloc_fragment((block_H, block_N), "float32")
            weights = T.alloc_shared((block_H, block_N), dtype)
            output = T.alloc_fragment((block_H, dim), "float32")
            largest = T.alloc_fragment((block_H,), "float32")
            before = T.alloc_fragment((block_H,), "float32")
            part = T.alloc_fragment((block_H,), "float32")
            total = T.alloc_fragment((block_H,), "float32")
            T.copy(Q[bx, by * block_H, 0], q)
            T.clear(output)
            T.clear(total)
            T.fill(largest, -T.infinity("float32"))
            for step in T.Pipelined(share // block_N, num_stages=2):
                first = bz * share + step * block_N
                T.copy(K[bx, first, 0], k_tile)
                T.clear(scores)
                T.gemm(q, k_tile, scores, transpose_B=True)
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
                T.copy(V[bx, first, 0], v_tile)
                T.gemm(weights, v_tile, output)
            for i, j in T.Parallel(block_H, dim):
                if by * block_H + i < heads:
                    Part[bx, by * block_H + i, bz, j] = output[i, j] / total[i]
            for i in T.Parallel(block_H):
                if by * block_H + i < heads:
                    PartLse[bx, by * block_H + i, bz] = T.log2(total[i]) + largest[i] * scale

        with T.Kernel(batch, heads, threads=128) as (bx, by):
            lse = T.alloc_fragment((splits,), "float32")
            largest = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            output = T.alloc_fragment((dim,), "float32")
            T.copy(PartLse[bx, by, 0], lse)
            T.reduce_max(lse, largest, dim=0)
            for i in T.Parallel(splits):
                lse[i] = T.exp2(lse[i] - largest[0])
            T.reduce_sum(lse, total, dim=0)
            T.clear(output)
            for split in T.serial(splits):
                for j in T.Parallel(dim):
                    output[j] += Part[bx, by, split, j] * T.exp2(
                        PartLse[bx, by, split] - largest[0]
                    )
            for j in T.Parallel(dim):
                Output[bx, by, j] = output[j] / total[0]

    return main


def main():
    batch, heads, keys, dim, splits = 2, 12, 256, 64, 4
    rng = np.random.default_rng(0)
    q = rng.standard_normal((batch, heads, dim)).astype(np.float16)
    k, v = rng.standard_normal((2, batch, keys, dim)).astype(np.float16)
    parts = np.zeros((batch, heads, splits, dim), np.float32)
    sums = np.zeros((batch, heads, splits), np.float32)
    output = decode_split_kv(batch, heads, keys, dim, splits)(q, k, v, parts, sums)
    wide_q, wide_k, wide_v = (x.astype(np.float64) for x in (q, k, v))
    weights = np.exp(np.einsum("bhd,bjd->bhj", wide_q, wide_k) / np.sqrt(dim))
    expected = np.einsum("bhj,bjd->bhd", weights / weights.sum(-1, keepdims=True), wide_v)
    error = np.abs(output - expected).max()
    print(f"largest error {error:.1e}")
    assert error < 1e-3


if __name__ == "__main__":
    main()
