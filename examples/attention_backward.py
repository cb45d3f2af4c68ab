"""Attention, backward: gradients of queries, keys and values, by recomputing the weights.

One block for each tile of keys walks over the queries; dK and dV stay in registers, and dQ is added
atomically. `Lse` has the logarithm (base 2) of the sum of each row, from the forward pass.

usage: python examples/attention_backward.py, or tw run examples/attention_backward.py
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit
def attention_backward(batch, heads, seq_len, dim, block_M=32, block_N=32, dtype="float16"):
    scale = (1.0 / dim) ** 0.5
    log2e = 1.44269504
    shape = (batch, seq_len, heads, dim)

    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype),
        K: T.Tensor(shape, dtype),
        V: T.Tensor(shape, dtype),
        dO: T.Tensor(shape, dtype),
        Lse: T.Tensor((batch, heads, seq_len), "float32"),
        Delta: T.Tensor((batch, heads, seq_len), "float32"),  # sums of dO * O
        dQ: T.Tensor(shape, "float32"),
        dK: T.Tensor(shape, dtype),
        dV: T.Tensor(shape, dtype),
    ):
        with T.Kernel(T.ceildiv(seq_len, block_M), heads, batch, threads=128) as (bx, by, bz):
            k_tile = T.alloc_shared((block_M, dim), dtype)
            v_tile = T.alloc_shared((block_M, dim), dtype)
            q_tile = T.alloc_shared((block_N, dim), dtype)
            do_tile = T.alloc_shared((block_N, dim), dtype)
            weights = T.alloc_fragment((block_M, block_N), "float32")  # transposed: keys x queries
            d_weights = T.alloc_fragment((block_M, block_N), "float32")
            weights_cast = T.alloc_shared((block_M, block_N), dtype)
            d_scores = T.alloc_shared((block_M, block_N), dtype)
            dk = T.alloc_fragment((block_M, dim), "float32")
            dv = T.alloc_fragment((block_M, dim), "float32")
            dq = T.alloc_fragment((block_N, dim), "float32")

            T.copy(K[bz, bx * block_M : (bx + 1) * block_M, by, :], k_tile)
            T.copy(V[bz, bx * block_M : (bx + 1) * block_M, by, :], v_tile)
            T.clear(dk)
            T.clear(dv)
            for step in T.serial(T.ceildiv(seq_len, block_N)):
                first = step * block_N
                T.copy(Q[bz, first : first + block_N, by, :], q_tile)
                T.copy(dO[bz, first : first + block_N, by, :], do_tile)
                T.clear(weights)
                T.gemm(k_tile, q_tile, weights, transpose_B=True)
                for i, j in T.Parallel(block_M, block_N):
                    weights[i, j] = T.exp2(weights[i, j] * (scale * log2e) - Lse[bz, by, first + j])
                T.copy(weights, weights_cast)
                T.gemm(weights_cast, do_tile, dv)
                T.clear(d_weights)
                T.gemm(v_tile, do_tile, d_weights, transpose_B=True)
                for i, j in T.Parallel(block_M, block_N):
                    d_scores[i, j] = (
                        weights[i, j] * (d_weights[i, j] - Delta[bz, by, first + j]) * scale
                    )
                T.gemm(d_scores, q_tile, dk)
                T.clear(dq)
                T.gemm(d_scores, k_tile, dq, transpose_A=True)
                for i, j in T.Parallel(block_N, dim):
                    T.atomic_add(dQ[bz, first + i, by, j], dq[i, j])
            T.copy(dk, dK[bz, bx * block_M : (bx + 1) * block_M, by, :])
            T.copy(dv, dV[bz, bx * block_M : (bx + 1) * block_M, by, :])

    return main


def reference(q, k, v, do):
    """Results of the forward pass and all gradients by numpy, in float64."""
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    scale = 1 / np.sqrt(q.shape[-1])
    scores = np.einsum("bihd,bjhd->bhij", q, k) * scale
    lse = np.log2(np.exp(scores).sum(-1))
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    delta = (np.einsum("bhij,bjhd->bihd", weights, v) * do).sum(-1).swapaxes(1, 2)
    d_weights = np.einsum("bihd,bjhd->bhij", do, v)
    d_scores = weights * (d_weights - delta[..., None]) * scale
    dq = np.einsum("bhij,bjhd->bihd", d_scores, k)
    dk = np.einsum("bhij,bihd->bjhd", d_scores, q)
    dv = np.einsum("bhij,bihd->bjhd", weights, do)
    return lse, delta, dq, dk, dv


def main():
    shape = batch, seq_len, heads, dim = 1, 64, 2, 64
    rng = np.random.default_rng(0)
    q, k, v, do = rng.standard_normal((4, *shape)).astype(np.float16)
    lse, delta, *expected = reference(q, k, v, do)
    lse, delta = (np.ascontiguousarray(x, np.float32) for x in (lse, delta))
    gradients = [np.zeros(shape, dtype) for dtype in (np.float32, np.float16, np.float16)]
    kernel = attention_backward(batch, heads, seq_len, dim)
    kernel(q, k, v, do, lse, delta, *gradients)
    errors = [np.abs(a - b).max() for a, b in zip(gradients, expected, strict=True)]
    print("largest errors of dQ, dK, dV:", ", ".join(f"{error:.1e}" for error in errors))
    assert max(errors) < 4e-3


if __name__ == "__main__":
    main()
