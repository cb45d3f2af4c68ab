"""Chapter 8 of the tutorial: python docs/tutorial/08_roles.py"""

# %% [markdown]
# # 8. Hopper: wgmma and roles
#
# On Hopper, a *warpgroup* of four warps multiplies tiles in shared memory (`wgmma`), and kernels give their warpgroups
# roles: one loads, others multiply. This chapter compiles for sm_90a, and writes a kernel with roles.

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
# ## Roles
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
