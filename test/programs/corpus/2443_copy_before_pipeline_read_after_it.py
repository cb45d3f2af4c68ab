"""tile-ai/tilelang issue #2443: a 1-D copy in front of a pipelined gemm, read after it, gives wrong numbers

Failure: the copy stayed where all threads run it, and was lowered for the threads of one role: the others read what was not written.
Must hold: relu(A @ B + bias), for biases of each block.
"""
import numpy as np
import tilelang
import tilelang.language as T

BUG, FAMILY, SYMPTOM = 2443, "TMA/wgmma/mbarrier", "wrong value"
ARCHS = ("interp", "sm_80", "sm_90a")
TOLERANCE = 0
EXPECT = "ok"
OUT = (3,)

M, N, K = 128, 256, 128

@tilelang.jit
def kernel():
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), bias: T.Tensor((N,), "float16"), C: T.Tensor((M, N), "float32")):
        with T.Kernel(N // 128, M // 128, threads=128) as (bx, by):
            As = T.alloc_shared((128, 32), "float16")
            Bs = T.alloc_shared((32, 128), "float16")
            bias_shared = T.alloc_shared((128,), "float16")
            acc = T.alloc_fragment((128, 128), "float32")
            T.clear(acc)
            T.copy(bias[bx * 128 : (bx + 1) * 128], bias_shared)
            for k in T.Pipelined(K // 32, num_stages=3):
                T.copy(A[by * 128, k * 32], As)
                T.copy(B[k * 32, bx * 128], Bs)
                T.gemm(As, Bs, acc)
            for i, j in T.Parallel(128, 128):
                acc[i, j] = T.max(acc[i, j] + T.cast(bias_shared[j], "float32"), 0.0)
            T.copy(acc, C[by * 128, bx * 128])
    return main

def inputs(rng):
    g = lambda *s: rng.integers(-4, 5, s).astype(np.float16)
    return g(M, K), g(K, N), (8 * g(N)), np.full((M, N), -777, np.float32)

def reference(A, B, bias, C):
    return (np.maximum(A.astype(np.float32) @ B.astype(np.float32) + bias.astype(np.float32), 0),)
