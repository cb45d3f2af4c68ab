"""Chapter 8 of the tutorial: python docs/tutorial/08_roles.py"""

# %% [markdown]
# # 8. Hopper: TMA, wgmma and roles
#
# On Hopper, one thread starts the copy of a whole tile (*TMA*), a *warpgroup* of four warps multiplies tiles in shared
# memory (`wgmma`), and warps have roles: one loads, others multiply. The compiler does this for an ordinary pipelined
# loop. This chapter shows how, and then writes a kernel with roles by hand.

# %%
import numpy as np
import tilewright
import tilewright.language as T

# %% [markdown]
# ## The same kernel, other instructions
#
# `T.gemm` needs no change. For sm_80 it becomes `mma.sync` on operands in registers, for sm_90a `wgmma.mma_async` on
# operands in shared memory:


# %%
@T.prim_func
def product(
    A: T.Tensor((128, 64), "float16"),
    B: T.Tensor((64, 128), "float16"),
    C: T.Tensor((128, 128), "float32"),
):
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((128, 64), "float16")
        b = T.alloc_shared((64, 128), "float16")
        c = T.alloc_fragment((128, 128), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.gemm(a, b, c, clear_accum=True)
        T.copy(c, C)


kernel = tilewright.compile(product)
for arch in ("sm_80", "sm_90a"):
    text = kernel.ir("ptx", arch=arch)
    print(arch, {name: text.count(name) for name in ("mma.sync", "wgmma.mma_async", "ldmatrix")})

# %% [markdown]
# ## Roles that the compiler makes
#
# A pipelined loop needs no change either. For sm_80 each thread issues `cp.async` and all of them wait. For sm_90a the
# compiler adds a warp, the *producer*, which starts the copies by TMA (`cp.async.bulk.tensor`). A barrier in shared
# memory (`mbarrier`) says that a version of the tiles is full, another that its readers are done. The remarks tell:


# %%
@tilewright.jit(out_idx=[-1])
def pipelined(M, N, K, block_M=128, block_N=128, block_K=64, num_stages=3):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((K, N), "float16"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), "float16")
            B_shared = T.alloc_shared((block_K, block_N), "float16")
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


kernel = pipelined(256, 256, 512)
kernel.ir("ptx", arch="sm_90a")
for remark in kernel.remarks:
    if remark.kind in ("roles", "gemm", "schedule") or "bulk" in remark.data.get("instruction", ""):
        print(f"{remark.kind}: {remark.message}")

# %% [markdown]
# The product of an iteration runs beside the next one, so that `wgmma` can follow `wgmma` without a gap. A timeline of
# one block shows who waits for whom (the order of events is that of the virtual GPU, the times are a model). Copies are
# in flight all the time, and are the limit here: a block gets the share of main memory that it has on a busy GPU.

# %%
from tilewright.report.pictures import plot_timeline

data = kernel.report_data(arch="sm_90a")
picture = plot_timeline(data, "hopper_timeline.svg", title="a pipelined GEMM on sm_90a")

# %% [markdown]
# ![Warp 4 starts copies; warps 0 to 3 multiply](hopper_timeline.svg){.picture}
#
# `pass_configs={"tl.disable_warp_specialized": True}` forbids the producer, `"tl.disable_tma_lower"` TMA; a remark says
# what else keeps a copy from it, such as rows whose bytes 16 does not divide.
#
# ## Roles of your own
#
# `T.ws(n)` is a part of the program for warpgroup `n`. Barriers (`T.alloc_barrier`) hand tiles over: a phase of a
# barrier ends when 128 threads have arrived. Two tiles are in flight, so each has a barrier *full*, at which the loader
# arrives, and a barrier *free*, at which the multiplier arrives.


# %%
@tilewright.jit(out_idx=[-1])
def matmul(M, N, K, block_M=64, block_N=64, block_K=32, first_parity=1):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((K, N), "float16"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            A_shared = T.alloc_shared((2, block_M, block_K), "float16")
            B_shared = T.alloc_shared((2, block_K, block_N), "float16")
            C_local = T.alloc_fragment((block_M, block_N), "float32")
            full = T.alloc_barrier([128, 128])
            free = T.alloc_barrier([128, 128])
            with T.ws(1):
                for k in T.serial(T.ceildiv(K, block_K)):
                    T.barrier_wait(free[k % 2], (k // 2 + first_parity) % 2)
                    T.copy(A[by * block_M, k * block_K], A_shared[k % 2, :, :])
                    T.copy(B[k * block_K, bx * block_N], B_shared[k % 2, :, :])
                    T.barrier_arrive(full[k % 2])
            with T.ws(0):
                T.clear(C_local)
                for k in T.serial(T.ceildiv(K, block_K)):
                    T.barrier_wait(full[k % 2], k // 2 % 2)
                    T.gemm(A_shared[k % 2, :, :], B_shared[k % 2, :, :], C_local)
                    T.barrier_arrive(free[k % 2])
                T.copy(C_local, C[by * block_M, bx * block_N])

    return main


a, b = np.random.default_rng(0).integers(-3, 4, (2, 128, 128)).astype(np.float16)
kernel = matmul(128, 128, 128)
print(np.array_equal(kernel(a, b), a.astype(np.float32) @ b.astype(np.float32)))
assert kernel.verify(a, b)

# %% [markdown]
# On a GPU the roles run at once, on real barriers. For sm_90a the loader's copies are TMA copies too, and the barrier
# *full* also waits for their bytes:

# %%
text = kernel.ir("ptx", arch="sm_90a")
names = ("cp.async.bulk.tensor", "mbarrier.expect_tx", "mbarrier.try_wait", "wgmma.mma_async")
print({name: text.count(name) for name in names})
for remark in kernel.remarks:
    if "bulk" in remark.data.get("instruction", ""):
        print(remark.message)

# %% [markdown]
# ## What it means
#
# The program has one meaning on every engine, also on a CPU without warps: roles run in the order of the text until they
# wait; then the next one continues. `T.barrier_wait(barrier, parity)` lets a thread pass once the phase of this parity
# is over; the phase before the first one counts as over, with parity 1. So the loader's first waits pass at once.
#
# If the parity is wrong, no role can continue. On a GPU the kernel hangs. Here it is an error at the line:

# %%
try:
    tilewright.compile(
        matmul(128, 128, 128, first_parity=0).prim_func, out_idx=[-1], device="interp"
    )(a, b)
except tilewright.TilewrightError as error:
    print(str(error).splitlines()[0].split("error: ")[-1])

# %% [markdown]
# ## Late and early
#
# Asynchronous copies and products may take effect at any time between their issue and the wait for them. The virtual GPU
# runs both extremes: `TILEWRIGHT_VGPU_MODE=late` lets them take effect at the wait. A kernel whose results differ relies
# on luck ([two runs that must agree](../vgpu.md#early-and-late-two-runs-that-must-agree)).
