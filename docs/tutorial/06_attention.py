"""Chapter 6 of the tutorial: python docs/tutorial/06_attention.py"""

# %% [markdown]
# # 6. Attention
#
# Flash attention is the running softmax of chapter 2 between two products of chapter 3. No matrix of scores is ever
# whole: a block keeps its tile of queries and walks over the keys.

# %%
import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit(out_idx=[-1])
def attention(batch, heads, seq_len, dim, causal, block_M=64, block_N=64, num_stages=2):
    scale = (1.0 / dim) ** 0.5 * 1.44269504  # exp2 is cheaper than exp: fold log2(e) into the scale
    shape = (batch, seq_len, heads, dim)

    @T.prim_func
    def main(
        Q: T.Tensor(shape, "float16"),
        K: T.Tensor(shape, "float16"),
        V: T.Tensor(shape, "float16"),
        Output: T.Tensor(shape, "float16"),
    ):
        with T.Kernel(T.ceildiv(seq_len, block_M), heads, batch, threads=128) as (bx, by, bz):
            Q_shared = T.alloc_shared((block_M, dim), "float16")
            K_shared = T.alloc_shared((block_N, dim), "float16")
            V_shared = T.alloc_shared((block_N, dim), "float16")
            scores = T.alloc_fragment((block_M, block_N), "float32")
            weights = T.alloc_fragment((block_M, block_N), "float16")
            output = T.alloc_fragment((block_M, dim), "float32")
            largest = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")

            T.copy(Q[bz, bx * block_M : (bx + 1) * block_M, by, :], Q_shared)
            T.clear(output)
            T.clear(total)
            T.fill(largest, -T.infinity("float32"))
            steps = (
                T.ceildiv((bx + 1) * block_M, block_N) if causal else T.ceildiv(seq_len, block_N)
            )
            for k in T.Pipelined(steps, num_stages=num_stages):
                T.copy(K[bz, k * block_N : (k + 1) * block_N, by, :], K_shared)
                if causal:
                    for i, j in T.Parallel(block_M, block_N):
                        scores[i, j] = T.if_then_else(
                            bx * block_M + i >= k * block_N + j, 0, -T.infinity("float32")
                        )
                else:
                    T.clear(scores)
                T.gemm(
                    Q_shared, K_shared, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow
                )
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
                T.copy(scores, weights)  # to float16, in registers
                T.copy(V[bz, k * block_N : (k + 1) * block_N, by, :], V_shared)
                T.gemm(weights, V_shared, output, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, dim):
                output[i, j] /= total[i]
            T.copy(output, Output[bz, bx * block_M : (bx + 1) * block_M, by, :])

    return main


# %% [markdown]
# - `if causal:` is a Python `if`: it is decided while the kernel is traced, and only one branch is compiled. `steps` is a
#   run-time value in the causal case: blocks of early queries make fewer steps.
# - The mask is written into the accumulator *before* the product: masked scores stay -infinity, whatever is added.
# - `weights` is an operand of the second product that comes from registers.


# %%
def reference(q, k, v, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.einsum("bihd,bjhd->bhij", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhij,bjhd->bihd", weights / weights.sum(-1, keepdims=True), v)


batch, heads, seq_len, dim = 1, 2, 192, 64
q, k, v = (
    np.random.default_rng(0).standard_normal((3, batch, seq_len, heads, dim)).astype(np.float16)
)
for causal in (False, True):
    error = np.abs(
        attention(batch, heads, seq_len, dim, causal)(q, k, v) - reference(q, k, v, causal)
    ).max()
    print(f"causal={(causal and 'yes') or 'no'}: largest error {error:.0e}")
    assert error < 2e-3

# %% [markdown]
# ## Layouts that fit
#
# The scores leave the first product in the layout of an accumulator, and enter the second one in the layout of an
# operand. `policy=T.GemmWarpPolicy.FullRow` gives each warp whole rows. Then both layouts have each element in the same
# thread: the conversion to `float16` needs no exchange. With the default policy, warps share the columns of the scores as
# well, and the weights go through shared memory in every step.

# %%
import re

text = attention(batch, heads, seq_len, dim, True).ir("layouts", arch="sm_80")
for name, layout in re.findall(r'tile\.alloc "(scores|weights|total)".*?\], "([^"]+)"', text):
    print(f"{name}: {layout}")

# %% [markdown]
# The picture shows a corner of `scores`: the thread and the slot of each element. A quad of four threads holds a row.

# %%
notation = re.search(r'tile\.alloc "scores".*?\], "([^"]+)"', text)[1]
scores = T.Fragment.parse(notation, (16, 16))
picture = scores.plot("scores.svg", title="who holds the scores")

# %% [markdown]
# ![Threads and slots of the scores](scores.svg){.picture}
#
# The rows of a warp's scores are in the same threads as the rows of `total` and `largest`: the loops over `scores[i, j]`
# and `largest[i]` need no communication.
#
# ## Is it numerically sound?
#
# `kernel.verify()` compares every engine with the interpreter, within error radii that the interpreter computes from the
# program, so that it needs no tolerance from you.

# %%
assert attention(batch, heads, seq_len, dim, True).verify(q, k, v)

# %% [markdown]
# The [examples](../examples.md) have grouped queries, windows, variable lengths, sinks, paged caches and the backward
# pass.
