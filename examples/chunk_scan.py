"""Chunk scan (Mamba 2): a state that decays from step to step, computed chunk by chunk.

With a decay a[t] of each step, y[t] = C[t] . h[t] and h[t] = a[t] h[t - 1] + B[t] x[t]. Inside of a
chunk this is a masked product, whose mask has the decays between two steps; the state at the start
of each chunk is carried along.

usage: python examples/chunk_scan.py, or tw run examples/chunk_scan.py --device vgpu:sm_80
"""

import numpy as np
import tilewright as tilelang
import tilewright.language as T


@tilelang.jit(out_idx=[-1])
def chunk_scan(batch, seq_len, heads, dim, states, chunk=32, dtype="float16"):
    log2e = 1.44269504

    @T.prim_func
    def main(
        X: T.Tensor((batch, seq_len, heads, dim), dtype),
        LogA: T.Tensor((batch, heads, seq_len), "float32"),  # logarithms of the decays
        B: T.Tensor((batch, seq_len, states), dtype),
        C: T.Tensor((batch, seq_len, states), dtype),
        Y: T.Tensor((batch, seq_len, heads, dim), "float32"),
    ):
        with T.Kernel(heads, batch, threads=128) as (bx, by):
            x = T.alloc_shared((chunk, dim), dtype)
            b = T.alloc_shared((chunk, states), dtype)
            c = T.alloc_shared((chunk, states), dtype)
            decay = T.alloc_shared((chunk,), "float32")  # sums of logarithms from the chunk's start
            scores = T.alloc_fragment((chunk, chunk), "float32")
            scores_cast = T.alloc_shared((chunk, chunk), dtype)
            b_scaled = T.alloc_shared((chunk, states), dtype)
            state = T.alloc_fragment((states, dim), "float32")
            state_cast = T.alloc_shared((states, dim), dtype)
            y = T.alloc_fragment((chunk, dim), "float32")
            T.clear(state)
            for step in T.serial(seq_len // chunk):
                first = step * chunk
                T.copy(X[by, first : first + chunk, bx, :], x)
                T.copy(B[by, first, 0], b)
                T.copy(C[by, first, 0], c)
                T.copy(LogA[by, bx, first], decay)
                T.cumsum(decay, dim=0)
                # What the state before the chunk gives.
                T.copy(state, state_cast)
                T.clear(y)
                T.gemm(c, state_cast, y)
                for i, j in T.Parallel(chunk, dim):
                    y[i, j] *= T.exp2(decay[i] * log2e)
                # What steps of the chunk give to later ones.
                T.clear(scores)
                T.gemm(c, b, scores, transpose_B=True)
                for i, j in T.Parallel(chunk, chunk):
                    scores_cast[i, j] = T.if_then_else(
                        i >= j, scores[i, j] * T.exp2((decay[i] - decay[j]) * log2e), 0
                    )
                T.gemm(scores_cast, x, y)
                T.copy(y, Y[by, first : first + chunk, bx, :])
                # The state at the end of the chunk.
                for i, j in T.Parallel(chunk, states):
                    b_scaled[i, j] = b[i, j] * T.exp2((decay[chunk - 1] - decay[i]) * log2e)
                for i, j in T.Parallel(states, dim):
                    state[i, j] *= T.exp2(decay[chunk - 1] * log2e)
                T.gemm(b_scaled, x, state, transpose_A=True)

    return main


def reference(x, log_a, b, c):
    """The recurrence itself, step by step, in float64."""
    batch, seq_len, heads, dim = x.shape
    x, b, c = (array.astype(np.float64) for array in (x, b, c))
    state = np.zeros((batch, heads, b.shape[-1], dim))
    y = np.zeros(x.shape)
    for t in range(seq_len):
        state *= np.exp(log_a[:, :, t].astype(np.float64))[..., None, None]
        state += np.einsum("bs,bhd->bhsd", b[:, t], x[:, t])
        y[:, t] = np.einsum("bs,bhsd->bhd", c[:, t], state)
    return y


def main():
    batch, seq_len, heads, dim, states = 1, 96, 2, 64, 32
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batch, seq_len, heads, dim)).astype(np.float16)
    b, c = rng.standard_normal((2, batch, seq_len, states)).astype(np.float16)
    log_a = -rng.uniform(0.05, 0.5, (batch, heads, seq_len)).astype(np.float32)
    y = chunk_scan(batch, seq_len, heads, dim, states)(x, log_a, b, c)
    expected = reference(x, log_a, b, c)
    error = np.abs(y - expected).max() / np.abs(expected).max()
    print(f"largest error {error:.1e} of the largest value")
    assert error < 2e-3


if __name__ == "__main__":
    main()
