"""Chapter 2 of the tutorial: python docs/tutorial/02_softmax.py"""

# %% [markdown]
# # 2. Softmax
#
# A softmax needs the maximum and the sum of each row: values that all threads of a block compute together. This chapter
# shows fragments, reductions, and how a row that is too long for one tile is processed in pieces.

# %%
import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit(out_idx=[-1])
def softmax(rows, columns, block=4, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((rows, columns), dtype), Y: T.Tensor((rows, columns), dtype)):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, columns), dtype)
            largest = T.alloc_fragment((block,), dtype)
            total = T.alloc_fragment((block,), dtype)
            T.copy(X[bx * block, 0], x)
            T.reduce_max(x, largest, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = T.exp(x[i, j] - largest[i])
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[bx * block, 0])

    return main


# %% [markdown]
# `T.alloc_fragment` allocates a tile in registers: each of the 128 threads holds some of its elements. You write
# `x[i, j]` as if it were one array. `T.copy(X[bx * block, 0], x)` names the first element of a region; the extents are
# those of `x`.

# %%
kernel = softmax(30, 256)
x = np.random.default_rng(0).standard_normal((30, 256)).astype(np.float32)
weights = np.exp(x - x.max(1, keepdims=True))
print(np.abs(kernel(x) - weights / weights.sum(1, keepdims=True)).max() < 1e-6)
kernel.verify(x)

# %% [markdown]
# ## Who holds what
#
# The compiler decides which thread holds which element, and all statements agree on it. `kernel.ir("layouts")` shows the
# program after this decision. Here are the layouts of the three fragments:

# %%
import re

for name, shape, layout in re.findall(
    r'tile\.alloc "(\w+)".*?fragment<\[([\d, ]+)\], "([^"]+)"', kernel.ir("layouts", arch="sm_80")
):
    print(f"{name} ({shape}): {layout}")

# %% [markdown]
# A smaller version of the same layout, drawn: a colour is a thread. A thread holds four neighbours, so that one
# instruction loads them.

# %%
fragment = T.Fragment((4, 32), lambda i, j: (i * 8 + j // 4, j % 4))
picture = fragment.plot("softmax_rows.svg", title="who holds x")

# %% [markdown]
# ![Rows of x, spread over threads](softmax_rows.svg){.picture}
#
# The maximum of a row belongs to all threads that hold a part of the row: `largest` has copies (`rep`). A reduction
# adds the values of a thread first, and then exchanges partial results between threads, by shuffles within a warp and
# through shared memory between warps. You write none of it.
#
# ## Rows of any length
#
# A fragment of 4 x 256 floats is 8 registers for each thread. Rows of a million elements do not fit. The running
# maximum and sum of *online softmax* need a piece of the row at a time: when the maximum grows, the old sum shrinks.


# %%
@tilewright.jit(out_idx=[-1])
def row_log_sum(rows, columns, block=4, piece=128):
    @T.prim_func
    def main(X: T.Tensor((rows, columns), "float32"), Y: T.Tensor((rows,), "float32")):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, piece), "float32")
            largest = T.alloc_fragment((block,), "float32")
            before = T.alloc_fragment((block,), "float32")
            part = T.alloc_fragment((block,), "float32")
            total = T.alloc_fragment((block,), "float32")
            T.fill(largest, -T.infinity("float32"))
            T.clear(total)
            for k in T.serial(T.ceildiv(columns, piece)):
                for i, j in T.Parallel(block, piece):
                    x[i, j] = T.if_then_else(
                        k * piece + j < columns,
                        X[bx * block + i, k * piece + j],
                        -T.infinity("float32"),
                    )
                T.copy(largest, before)
                T.reduce_max(x, largest, dim=1, clear=False)  # the old maximum takes part
                for i, j in T.Parallel(block, piece):
                    x[i, j] = T.exp(x[i, j] - largest[i])
                T.reduce_sum(x, part, dim=1)
                for i in T.Parallel(block):
                    total[i] = total[i] * T.exp(before[i] - largest[i]) + part[i]
            for i in T.Parallel(block):
                Y[bx * block + i] = T.log(total[i]) + largest[i]

    return main


wide = np.random.default_rng(1).standard_normal((10, 1000)).astype(np.float32)
expected = np.log(np.exp(wide.astype(np.float64)).sum(1))
print(np.abs(row_log_sum(10, 1000)(wide) - expected).max() < 1e-5)

# %% [markdown]
# Elements outside of the tensor would read as zero, which is wrong in a maximum: `T.if_then_else` reads them as
# -infinity. Attention (chapter 6) is this loop with two products in it.
