"""Chapter 3 of the tutorial: python docs/tutorial/03_gemm.py"""

# %% [markdown]
# # 3. GEMM
#
# A matrix product in tiles, on tensor cores. The chapter shows shared tiles, `T.gemm`, and how to read the remarks.

# %%
import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit(out_idx=[-1])
def matmul(M, N, K, block_M=64, block_N=64, block_K=32, threads=128, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.serial(T.ceildiv(K, block_K)):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


kernel = matmul(128, 128, 128)
rng = np.random.default_rng(0)
a, b = rng.integers(-3, 4, (2, 128, 128)).astype(np.float16)
print(np.array_equal(kernel(a, b), a.astype(np.float32) @ b.astype(np.float32)))

# %% [markdown]
# Each block owns a tile of `C`, 64 x 64. It walks along K in steps of 32: the tiles of `A` and `B` go to shared memory,
# where all threads can read them, and `T.gemm` adds their product to the accumulator in registers. Products are exact
# and sums are in `float32`; only the inputs are `float16`.
#
# ## Read the remarks

# %%
kernel.ir("ptx", arch="sm_80")
for remark in kernel.remarks:
    print(f"line {remark.line}: {remark.message}")

# %% [markdown]
# - The copies from `A` and `B` move 8 `float16` at once: 16 bytes, the widest there is.
# - The operands of the product are read by `ldmatrix`, which gives each lane what the tensor core needs.
# - The result is written two floats at a time. The reason is in the layout of the accumulator: a thread holds *pairs*
#   of neighbours.
#
# ## The accumulator
#
# The tensor core instruction `mma.m16n8k16` fixes who holds which element of a tile of 16 x 8. Lane 0 has elements
# (0, 0), (0, 1), (8, 0) and (8, 1):

# %%
accumulator = T.Fragment((16, 8), lambda i, j: (4 * (i % 8) + j // 2, 2 * (i // 8) + j % 2))
picture = accumulator.plot("mma_accumulator.svg", title="16 x 8 accumulator of mma")

# %% [markdown]
# ![Which lane holds which element of the accumulator](mma_accumulator.svg){.picture}
#
# `tw layout` prints the same as a table, and says whether any two elements share an address:
#
# ```console
# $ tw layout "(i, j) -> thread 4 * (i % 8) + j // 2, slot 2 * (i // 8) + j % 2" 16 8
# …32 threads with 4 slots; injective: yes…
# ```
#
# ## Epilogue
#
# Whatever happens to the result before it leaves the registers costs almost nothing. Here: bias and ReLU.


# %%
@tilewright.jit(out_idx=[-1])
def linear_relu(M, N, K, block=64):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        W: T.Tensor((N, K), "float16"),
        bias: T.Tensor((N,), "float32"),
        C: T.Tensor((M, N), "float16"),
    ):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a_tile = T.alloc_shared((block, 32), "float16")
            w_tile = T.alloc_shared((block, 32), "float16")
            c_tile = T.alloc_fragment((block, block), "float32")
            T.clear(c_tile)
            for k in T.serial(T.ceildiv(K, 32)):
                T.copy(A[by * block, k * 32], a_tile)
                T.copy(W[bx * block, k * 32], w_tile)
                T.gemm(a_tile, w_tile, c_tile, transpose_B=True)
            for i, j in T.Parallel(block, block):
                c_tile[i, j] = T.max(c_tile[i, j] + bias[bx * block + j], 0)
            T.copy(c_tile, C[by * block, bx * block])  # converts to float16

    return main


layer = linear_relu(100, 72, 64)
layer.verify()

# %% [markdown]
# `transpose_B=True` takes weights as they are stored, N x K. `bias` is read from global memory in the loop; the compiler
# sees that a thread needs the same bias for several rows.
#
# Next: the loop waits for each copy before it multiplies. Chapter 4 changes that.
