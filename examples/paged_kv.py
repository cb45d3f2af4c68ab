"""Decoding, paged cache: keys and values are in pages, which a table finds.

usage: python examples/paged_kv.py, or tw run examples/paged_kv.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def paged_kv(batch, heads, pages, page, most, dim, block_H=16, dtype="float16"):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # log2(e)

    @T.prim_func
    def main(
        Q: T.Tensor((batch, heads, dim), dtype),
        K: T.Tensor((pages, page, dim), dtype),
        V: T.Tensor((pages, page, dim), dtype),
        Table: T.Tensor((batch, most), "int32"),  # the pages of each sequence
        Length: T.Tensor((batch,), "int32"),
        Output: T.Tensor((batch, heads, dim), dtype),
    ):
        with T.Kernel(T.ceildiv(heads, block_H), batch, threads=128) as (bx, by):
            q = T.alloc_shared((block_H, dim), dtype)
            k_tile = T.alloc_shared((page, dim), dtype)
            v_tile = T.alloc_shared((page, dim), dtype)
            scores = T.alloc_fragment((block_H, page), "float32")
            weights = T.alloc_shared((block_H, page), dtype)
            output = T.alloc_fragment((block_H, dim), "float32")
            largest = T.alloc_fragment((block_H,), "float32")
            before = T.alloc_fragment((block_H,), "float32")
            part = T.alloc_fragment((block_H,), "float32")
            total = T.alloc_fragment((block_H,), "float32")
            T.copy(Q[by, bx * block_H, 0], q)
            T.clear(output)
            T.clear(total)
            T.fill(largest, -T.infinity("float32"))
            for step in T.Pipelined(T.ceildiv(Length[by], page), num_stages=2):
                number = Table[by, step]
                T.copy(K[number, 0, 0], k_tile)
                T.copy(V[number, 0, 0], v_tile)
                for i, j in T.Parallel(block_H, page):
                    scores[i, j] = T.if_then_else(
                        step * page + j < Length[by], 0, -T.infinity("float32")
                    )
                T.gemm(q, k_tile, scores, transpose_B=True)
                T.copy(largest, before)
                T.reduce_max(scores, largest, dim=1, clear=False)
                for i, j in T.Parallel(block_H, page):
                    scores[i, j] = T.exp2((scores[i, j] - largest[i]) * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(block_H):
                    before[i] = T.exp2((before[i] - largest[i]) * scale)
                    total[i] = total[i] * before[i] + part[i]
                for i, j in T.Parallel(block_H, dim):
                    output[i, j] *= before[i]
                T.copy(scores, weights)
                T.gemm(weights, v_tile, output)
            for i, j in T.Parallel(block_H, dim):
                output[i, j] /= total[i]
            T.copy(output, Output[by, bx * block_H, 0])

    return main


def main():
    batch, heads, page, dim = 3, 16, 32, 64
    lengths = np.array([40, 1, 96], np.int32)
    rng = np.random.default_rng(0)
    table = rng.permutation(12)[:9].reshape(batch, 3).astype(np.int32)
    q = rng.standard_normal((batch, heads, dim)).astype(np.float16)
    k, v = rng.standard_normal((2, 12, page, dim)).astype(np.float16)
    output = paged_kv(batch, heads, 12, page, 3, dim)(q, k, v, table, lengths)
    errors = []
    for b, length in enumerate(lengths):
        key, value = (x[table[b]].reshape(-1, dim)[:length].astype(np.float64) for x in (k, v))
        weights = np.exp(q[b].astype(np.float64) @ key.T / np.sqrt(dim))
        expected = weights / weights.sum(-1, keepdims=True) @ value
        errors.append(np.abs(output[b] - expected).max())
    print(f"largest error {max(errors):.1e}")
    assert max(errors) < 2e-3


if __name__ == "__main__":
    main()
