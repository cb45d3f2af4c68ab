"""Tune a GEMM: which tiles are the fastest on this machine?

python examples/tune_matmul.py          the second time the answer comes from the cache
"""

import numpy as np
import tilewright
import tilewright.language as T

CONFIGS = [
    {"block_M": rows, "block_N": columns, "block_K": depth}
    for rows in (48, 96, 128)
    for columns in (128, 256)
    for depth in (32, 256)
]


def reference(a, b):
    """What each candidate is compared with."""
    return a @ b


@tilewright.autotune(configs=CONFIGS, ref_prog=reference, warmup=10, rep=50)
@tilewright.jit(out_idx=[-1])
def matmul(M, N, K, block_M=128, block_N=128, block_K=32, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=2):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(B[k * block_K, bx * block_N], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * block_M, bx * block_N])

    return main


if __name__ == "__main__":
    size = 512
    kernel = matmul(size, size, size)
    print(f"{kernel.config}: {kernel.latency:.3f} ms, numpy {kernel.ref_latency:.3f} ms")
    x, y = np.random.default_rng(0).standard_normal((2, size, size)).astype(np.float32)
    print(f"largest error: {np.abs(kernel(x, y) - x @ y).max():.1e}")
