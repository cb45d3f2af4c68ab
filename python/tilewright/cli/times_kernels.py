"""Kernels that `tw selftest` times: what the cost model is compared with on a GPU."""

from typing import Any

import tilewright.language as T


def add(n: int) -> Any:
    """Main memory and nothing else."""

    @T.prim_func
    def main(
        A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")
    ):
        with T.Kernel(n // 1024, threads=128) as bx:
            for i in T.Parallel(1024):
                C[bx * 1024 + i] = A[bx * 1024 + i] + B[bx * 1024 + i]

    return main


def gemm(m: int, block_n: int, stages: int) -> Any:
    """Tensor cores, fed through shared memory."""

    @T.prim_func
    def main(
        A: T.Tensor((m, m), "float16"),
        B: T.Tensor((m, m), "float16"),
        C: T.Tensor((m, m), "float16"),
    ):
        with T.Kernel(m // block_n, m // 128, threads=256) as (bx, by):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((block_n, 64), "float16")
            c = T.alloc_fragment((128, block_n), "float32")
            T.clear(c)
            for k in T.Pipelined(m // 64, num_stages=stages):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[bx * block_n, k * 64], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 128, bx * block_n])

    return main


def softmax(rows: int, columns: int) -> Any:
    """Special functions and reductions."""

    @T.prim_func
    def main(X: T.Tensor((rows, columns), "float32"), Y: T.Tensor((rows, columns), "float32")):
        with T.Kernel(rows, threads=128) as bx:
            x = T.alloc_fragment((1, columns), "float32")
            most = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(X[bx, 0], x)
            T.reduce_max(x, most, dim=1)
            for i, j in T.Parallel(1, columns):
                x[i, j] = T.exp(x[i, j] - most[i])
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(1, columns):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[bx, 0])

    return main


def attention(heads: int, length: int, block: int) -> Any:
    """Products and softmax in turn."""
    scale = (1.0 / 64) ** 0.5 * 1.44269504
    shape = (heads, length, 64)

    @T.prim_func
    def main(
        Q: T.Tensor(shape, "float16"),
        K: T.Tensor(shape, "float16"),
        V: T.Tensor(shape, "float16"),
        O: T.Tensor(shape, "float16"),  # noqa: E741
    ):
        with T.Kernel(length // block, heads, threads=2 * block) as (bx, by):
            q = T.alloc_shared((block, 64), "float16")
            k = T.alloc_shared((64, 64), "float16")
            v = T.alloc_shared((64, 64), "float16")
            s = T.alloc_fragment((block, 64), "float32")
            p = T.alloc_fragment((block, 64), "float16")
            o = T.alloc_fragment((block, 64), "float32")
            most = T.alloc_fragment((block,), "float32")
            before = T.alloc_fragment((block,), "float32")
            factor = T.alloc_fragment((block,), "float32")
            part = T.alloc_fragment((block,), "float32")
            total = T.alloc_fragment((block,), "float32")
            T.copy(Q[by, bx * block, 0], q)
            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(most, -T.infinity("float32"))
            for step in T.Pipelined(length // 64, num_stages=2):
                T.copy(K[by, step * 64, 0], k)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(most, before)
                T.reduce_max(s, most, dim=1, clear=False)
                for i in T.Parallel(block):
                    factor[i] = T.exp2(before[i] * scale - most[i] * scale)
                for i, j in T.Parallel(block, 64):
                    s[i, j] = T.exp2(s[i, j] * scale - most[i] * scale)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(block):
                    total[i] = total[i] * factor[i] + part[i]
                T.copy(s, p)
                for i, j in T.Parallel(block, 64):
                    o[i, j] *= factor[i]
                T.copy(V[by, step * 64, 0], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block, 64):
                o[i, j] /= total[i]
            T.copy(o, O[by, bx * block, 0])

    return main
