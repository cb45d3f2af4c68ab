"""Chapter 5 of the tutorial: python docs/tutorial/05_layouts.py"""

# %% [markdown]
# # 5. Layouts and swizzles
#
# A layout says where each element of a tile is. Layouts never change results, only speed. This chapter draws them, finds
# a bank conflict by measurement, and removes it.

# %%
import numpy as np
import tilewright
import tilewright.language as T

# %% [markdown]
# ## Banks
#
# Shared memory has 32 banks of 4 bytes. If the 32 lanes of a warp touch 32 different banks, the access takes one pass;
# if they touch different words of one bank, it takes one pass for each word. In a row-major tile of 32 x 32 floats, a
# row touches all banks, and a column only one. A layout is a function of the indices, and can be drawn; a colour is a
# bank.

# %%
row_major = T.Layout((32, 32), lambda i, j: [i * 32 + j])
picture = row_major.plot("row_major.svg", title="row-major: a column is one bank")

# %% [markdown]
# ![A row-major tile: each column has one colour](row_major.svg){.picture}
#
# Two remedies are common. *Padding* makes rows 33 elements long. A *swizzle* permutes each row by an exclusive or with
# the number of the row; it needs no extra memory.

# %%
padded = T.Layout((32, 32), lambda i, j: [i * 33 + j])
swizzled = T.Layout((32, 32), lambda i, j: [i, j ^ i])
picture = swizzled.plot("swizzled.svg", title="swizzled: rows and columns touch all banks")

# %% [markdown]
# ![A swizzled tile: every row and column has all colours](swizzled.svg){.picture}
#
# The command line draws small layouts too, and proves that no two elements share an address:
#
# ```console
# $ tw layout "(i, j) -> (i, j ^ (i % 4))" 4 4
# …
# physical shape 4 x 4; injective: yes
#  0  1  2  3
#  5  4  7  6
# 10 11  8  9
# 15 14 13 12
# ```
#
# ## Measure
#
# A transpose reads a shared tile by columns. `T.annotate_layout` gives the tile a layout. The virtual GPU counts the
# passes ("wavefronts") of each shared-memory access, and how many would be enough:


# %%
def transpose(layout):
    @T.prim_func
    def main(A: T.Tensor((32, 32), "float32"), B: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((32, 32), "float32")
            T.annotate_layout({s: layout})
            T.copy(A, s)
            for i, j in T.Parallel(32, 32):
                B[i, j] = s[j, i]

    return tilewright.compile(main, device="vgpu:sm_80")


a = np.arange(1024, dtype=np.float32).reshape(32, 32)
for name, layout in (("row-major", row_major), ("padded", padded), ("swizzled", swizzled)):
    b = np.zeros_like(a)
    kernel = transpose(layout)
    kernel(a, b)
    assert np.array_equal(b, a.T)  # the same result with every layout
    counters = kernel.counters[0]
    print(
        f"{name:10} {counters['shared_wavefronts']:5} passes, {counters['shared_wavefronts_ideal']} would do"
    )

# %% [markdown]
# ## What the compiler picks
#
# The tiles of a `T.gemm` need no annotation: the compiler swizzles them for `ldmatrix`. Other shared tiles are
# row-major unless you say otherwise. `kernel.ir("layouts")` shows the choice:

# %%
import re


@T.prim_func
def product(
    A: T.Tensor((64, 64), "float16"),
    B: T.Tensor((64, 64), "float16"),
    C: T.Tensor((64, 64), "float32"),
):
    with T.Kernel(1, threads=128):
        a_tile = T.alloc_shared((64, 64), "float16")
        b_tile = T.alloc_shared((64, 64), "float16")
        c_tile = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a_tile)
        T.copy(B, b_tile)
        T.gemm(a_tile, b_tile, c_tile, clear_accum=True)
        T.copy(c_tile, C)


text = tilewright.compile(product).ir("layouts", arch="sm_80")
for name, layout in re.findall(r'tile\.alloc "(\w+)".*?\], "([^"]+)"', text):
    print(f"{name}: {layout}")

# %% [markdown]
# `(i, j) -> (i, j ^ 8 * (i % 8))` moves chunks of 8 elements, 16 bytes: what `ldmatrix` and `cp.async` read stays
# together. `tilewright.layout.make_swizzled_layout(tile)` returns this layout for your own use.
#
# ## A layout that is wrong
#
# Two elements at one place would lose data. The compiler refuses such a layout, with the two elements:

# %%
try:
    transpose(T.Layout((32, 32), lambda i, j: [i * 16 + j]))
except tilewright.TilewrightError as error:
    print(str(error).splitlines()[0].split("error: ")[-1])
