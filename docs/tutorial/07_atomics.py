"""Chapter 7 of the tutorial: python docs/tutorial/07_atomics.py"""

# %% [markdown]
# # 7. Atomics and the seed's bug
#
# Blocks run in any order. If several add to one element, the additions must be atomic. This chapter shows atomics, and
# the bug that started this project.

# %%
import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit
def column_sums(rows, columns, block=32):
    @T.prim_func
    def main(A: T.Tensor((rows, columns), "float32"), S: T.Tensor((columns,), "float32")):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            a = T.alloc_fragment((block, columns), "float32")
            part = T.alloc_fragment((columns,), "float32")
            T.copy(A[bx * block, 0], a)
            T.reduce_sum(a, part, dim=0)
            for j in T.Parallel(columns):
                T.atomic_add(S[j], part[j])

    return main


a = np.random.default_rng(0).integers(-8, 9, (1000, 64)).astype(np.float32)
s = np.zeros(64, np.float32)
column_sums(1000, 64)(a, s)
print(np.array_equal(s, a.sum(0)))

# %% [markdown]
# Without the atomic, one block reads what another writes: the compiler refuses the program.


# %%
def make_racing():
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), S: T.Tensor((64,), "float32")):
        with T.Kernel(64, threads=64) as bx:
            for j in T.Parallel(64):
                S[j] = S[j] + A[bx, j]

    return tilewright.compile(main)


try:
    make_racing()
except tilewright.TilewrightError as error:
    print(str(error).splitlines()[0].split("error: ")[-1])

# %% [markdown]
# ## How wide is an atomic?
#
# From sm_90 on, one instruction can add up to four floats that are neighbours in memory. In which cases may the compiler
# use it?
#
# In TileLang's issue [#1366](https://github.com/tile-ai/tilelang/issues/1366), a backward pass of attention adds tiles
# to a gradient `dQ`. Its author gave `dQ` a layout: the order in which the accumulator of a tensor core holds its
# elements, so that a warp writes whole lines of memory. TileLang looked at the tile in registers, saw pairs of
# neighbours, and added pairs. But in the memory of `dQ` the two elements of a pair are 32 apart, and the second value of
# each pair went to the wrong element. No error, wrong gradients.


# %%
def gradient_layout(shape):
    return T.Layout(shape, lambda l, d: [l // 8, d // 8, d % 2, 4 * (l % 8) + (d % 8) // 2])


def make_add(with_layout):
    @T.prim_func
    def add_product(
        A: T.Tensor((64, 64), "float16"),
        B: T.Tensor((64, 64), "float16"),
        dQ: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            if with_layout:
                T.annotate_layout({dQ: gradient_layout((64, 64))})
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, clear_accum=True)
            for i, j in T.Parallel(64, 64):
                T.atomic_add(dQ[i, j], c[i, j])

    return tilewright.compile(add_product)


for with_layout in (False, True):
    kernel = make_add(with_layout)
    kernel.ir("ptx", arch="sm_90")
    print([remark.message for remark in kernel.remarks if remark.buffer == "dQ"])

# %% [markdown]
# Without the layout two floats are added at once. With it, the pair is refused, with the counterexample: slots 0 and 1
# of thread 0 lie 32 elements apart. The access planner asks both sides, registers and memory, and a wide access needs a
# proof for every thread.
#
# The picture shows a corner of `dQ` in the layout: the offset of each element. Neighbours of a row are far apart, but
# equal slots of the 32 lanes are one line of memory.

# %%
picture = gradient_layout((16, 16)).plot("gradient_layout.svg", title="where elements of dQ are")

# %% [markdown]
# ![Offsets of the elements of dQ in its layout](gradient_layout.svg){.picture}
#
# The host sees the layout: element (l, d) is where the layout puts it, counted row by row.

# %%
a, b = np.random.default_rng(1).integers(-3, 4, (2, 64, 64)).astype(np.float16)
dq = np.zeros((64, 64), np.float32)
make_add(True)(a, b, dq)
layout = gradient_layout((64, 64))
extents = layout.get_output_shape()
product = a.astype(np.float32) @ b.astype(np.float32)
offsets = [
    np.ravel_multi_index(layout.map_forward_index((l, d)), extents)
    for l in range(64)
    for d in range(64)
]
print(np.array_equal(dq.ravel()[offsets].reshape(64, 64), product))

# %% [markdown]
# `examples/seed/` has the kernel of the issue itself, unmodified; `make run` runs it on every engine.
