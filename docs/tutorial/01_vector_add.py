"""Chapter 1 of the tutorial: python docs/tutorial/01_vector_add.py"""

# %% [markdown]
# # 1. Vector add
#
# A kernel adds two vectors. It shows what a kernel consists of, and what happens at the edges.

# %%
import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit(out_idx=[-1])
def vector_add(n, block=256, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype), C: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, block), threads=128) as bx:
            for i in T.Parallel(block):
                C[bx * block + i] = A[bx * block + i] + B[bx * block + i]

    return main


# %% [markdown]
# - `vector_add` is a *factory*: `vector_add(1000)` traces the function `main` for `n = 1000` and compiles it. Calls
#   with the same arguments return the same kernel.
# - `T.Kernel(4, threads=128)` launches four blocks of 128 threads; `bx` is the index of the block.
# - The iterations of `T.Parallel(256)` are independent of each other. The compiler spreads them over the threads, here
#   two for each, and decides how many elements an instruction moves.
# - `out_idx=[-1]` makes the last parameter a result that the call allocates.

# %%
kernel = vector_add(1000)
a, b = np.random.default_rng(0).standard_normal((2, 1000)).astype(np.float32)
c = kernel(a, b)
print(np.array_equal(c, a + b))
print(kernel)

# %% [markdown]
# ## The edge
#
# 1000 is not a multiple of 256: the last block covers elements 768 to 1023. Elements 1000 to 1023 do not exist. A read
# outside of a tensor gives zero, a write outside is dropped; you write no condition. The virtual GPU, which checks every
# access of the generated code, agrees:

# %%
kernel.verify(a, b)

# %% [markdown]
# ## How wide is an access?
#
# The compiler uses the widest access that it can prove correct, and tells you at which line.

# %%
kernel.ir("ptx", arch="sm_80")
for remark in kernel.remarks:
    if remark.data.get("arch") == "sm_80":
        print(remark.message)

# %% [markdown]
# Two floats at once: with 256 elements for 128 threads a thread has two neighbours. With blocks of 512 elements it has
# four. With a length of 1001, four neighbours could cross the end of the tensor: then a thread moves one element at a
# time, and neighbouring threads touch neighbouring elements.

# %%
for n, block in ((1000, 512), (1001, 512)):
    wider = vector_add(n, block)
    wider.ir("ptx", arch="sm_80")
    print(n, wider.remarks[0].message)

# %% [markdown]
# The remark says why an access is not wider, with a counterexample. No access is ever widened without a proof.
#
# Which thread takes which element? A picture of 64 of them: a colour is a thread, and its two elements are neighbours.

# %%
pairs = T.Fragment((4, 16), lambda i, j: ((i * 16 + j) // 2, j % 2))
picture = pairs.plot("vector_threads.svg", title="threads and slots of 64 elements")

# %% [markdown]
# ![The thread and the slot of each element](vector_threads.svg){.picture}
#
# ## Any length
#
# `T.dynamic` makes a kernel for every length: the extent is read from the arguments.

# %%
n = T.dynamic("n")


@T.prim_func
def add_any(
    A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")
):
    with T.Kernel(T.ceildiv(n, 512), threads=128) as bx:
        for i in T.Parallel(512):
            C[bx * 512 + i] = A[bx * 512 + i] + B[bx * 512 + i]


any_length = tilewright.compile(add_any, out_idx=[-1])
for length in (0, 1, 777):
    x = np.ones(length, np.float32)
    print(length, any_length(x, x).sum())

# %% [markdown]
# ## Try it
#
# - Run the program on the interpreter: `TILEWRIGHT_DEVICE=interp python docs/tutorial/01_vector_add.py`.
# - Replace `+` by `T.max(…, …)`, or store to `C[0]`: what does the compiler say?
