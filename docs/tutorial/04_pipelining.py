"""Chapter 4 of the tutorial: python docs/tutorial/04_pipelining.py"""

# %% [markdown]
# # 4. Pipelining
#
# While a tile is multiplied, the next ones can be on their way from memory. `T.Pipelined` does that; the rest of the
# program stays as it is.

# %%
import numpy as np
import tilewright
import tilewright.language as T


@tilewright.jit(out_idx=[-1])
def matmul(M, N, K, num_stages, block_M=64, block_N=64, block_K=32, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "float32")
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


# %% [markdown]
# ## What it means, and what it does
#
# `T.Pipelined` is an ordinary loop: its results are those of `T.serial`, with any number of stages. What changes is the
# code. With `num_stages=3`, copies are issued two iterations ahead into three versions of each shared tile:

# %%
for num_stages in (0, 1, 2, 3):
    kernel = matmul(128, 128, 256, num_stages)
    shared = kernel.summary("sm_80")["kernels"][0]["gpu"]["shared_bytes"]
    ahead = [r.data["ahead"] for r in kernel.remarks if "ahead" in r.data]
    print(f"{num_stages} stages: {shared} bytes of shared memory, issued ahead by {ahead}")

# %% [markdown]
# More stages hide more latency and take more shared memory; two or three are usual on sm_80. The instructions are
# `cp.async`, which copies from global to shared memory without registers:

# %%
text = matmul(128, 128, 256, 3).ir("ptx", arch="sm_80")
for instruction in (
    "cp.async.cg",
    "cp.async.commit_group",
    "cp.async.wait_group",
    "bar.sync",
    "mma.sync",
):
    print(f"{instruction:24} {text.count(instruction)} times")

# %% [markdown]
# What a block does over time, with one stage and with three. `kernel.report_data()` has the events of the virtual GPU
# and a model of their times; `kernel.report("matmul.html")` draws the same in a page.

# %%
from tilewright.report.pictures import plot_timeline

for num_stages in (1, 3):
    data = matmul(64, 64, 256, num_stages).report_data(arch="sm_80")
    picture = plot_timeline(data, f"stages_{num_stages}.svg", title=f"num_stages={num_stages}")

# %% [markdown]
# ![With one stage, copies and products take turns](stages_1.svg){.picture}
#
# ![With three stages, copies are in flight while products run](stages_3.svg){.picture}
#
# Where the waits and barriers are is decided by a proof: every access to a version of a tile is ordered with every
# conflicting one. The virtual GPU checks the result independently. It reports a race, or a copy that was not waited for,
# in any PTX ([check any PTX](../vgpu.md)); our own code has to pass as well:

# %%
a, b = np.random.default_rng(0).integers(-3, 4, (2, 128, 128)).astype(np.float16)
assert matmul(128, 128, 128, 3).verify(a, b)

# %% [markdown]
# ## When a copy is not overlapped
#
# A copy that converts goes through registers: `cp.async` cannot convert. Among the remarks, `A` is loaded and stored by
# ordinary instructions, and only `b_tile` is issued ahead:


# %%
@T.prim_func
def converting(
    A: T.Tensor((64, 256), "float32"),
    B: T.Tensor((256, 64), "float16"),
    C: T.Tensor((64, 64), "float32"),
):
    with T.Kernel(1, threads=128):
        a_tile = T.alloc_shared((64, 32), "float16")
        b_tile = T.alloc_shared((32, 64), "float16")
        c_tile = T.alloc_fragment((64, 64), "float32")
        T.clear(c_tile)
        for k in T.Pipelined(8, num_stages=3):
            T.copy(A[0, k * 32], a_tile)  # float32 to float16
            T.copy(B[k * 32, 0], b_tile)
            T.gemm(a_tile, b_tile, c_tile)
        T.copy(c_tile, C)


kernel = tilewright.compile(converting)
kernel.ir("ptx", arch="sm_80")
for remark in kernel.remarks:
    if remark.buffer in ("A", "a_tile", "b_tile"):
        print(f"{remark.kind}: {remark.message}")

# %% [markdown]
# ## Without a GPU
#
# The CPU has no `cp.async`; `num_stages` changes nothing there. The figures of the virtual GPU (instructions, bank
# conflicts, bytes) and of ptxas (registers, spills) say much about GPU code before you have a GPU:

# %%
summary = matmul(512, 512, 512, 3).summary("sm_80")["kernels"][0]
print({key: summary["gpu"][key] for key in ("shared_bytes",)}, summary["grid"], summary["threads"])
