"""Throughput of the interpreter: scalar steps against plain Python, gemm against numpy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from figures import Figure, median_seconds

EXTENT = 1 << 16
SIZE = 256


def scale_kernel():
    """B = 2 * A + 1, an element at a time."""
    import tilewright
    import tilewright.language as T

    @T.prim_func
    def scale(A: T.Tensor((EXTENT,), "float32"), B: T.Tensor((EXTENT,), "float32")):
        with T.Kernel(EXTENT // 1024, threads=128) as bx:
            for i in T.Parallel(1024):
                B[bx * 1024 + i] = A[bx * 1024 + i] * 2.0 + 1.0

    return tilewright.compile(scale, device="interp")


def gemm_kernel():
    """One block multiplies SIZE x SIZE matrices in float16."""
    import tilewright
    import tilewright.language as T

    @T.prim_func
    def gemm(
        A: T.Tensor((SIZE, SIZE), "float16"),
        B: T.Tensor((SIZE, SIZE), "float16"),
        C: T.Tensor((SIZE, SIZE), "float32"),
    ):
        with T.Kernel(1, threads=128) as _:
            a = T.alloc_shared((SIZE, SIZE), "float16")
            b = T.alloc_shared((SIZE, SIZE), "float16")
            c = T.alloc_fragment((SIZE, SIZE), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    return tilewright.compile(gemm, device="interp")


def python_scale(a: list[float], b: list[float]) -> None:
    for i in range(len(a)):
        b[i] = a[i] * 2.0 + 1.0


def figures() -> Iterator[Figure]:
    kernel = scale_kernel()
    a, b = np.ones(EXTENT, np.float32), np.zeros(EXTENT, np.float32)
    for check in (False, True):
        kernel.options = {"check": check}
        seconds = median_seconds(lambda: kernel(a, b))
        steps = kernel.last_run["steps"]
        left, right = a.tolist(), b.tolist()
        python = EXTENT / median_seconds(lambda: python_scale(left, right))
        how = "watched" if check else "unwatched"
        yield Figure(
            f"interpreter, {how}: operations", steps / seconds / 1e6, "M/s", more_is_better=True
        )
        yield Figure(
            f"interpreter, {how}: elements of B = 2 * A + 1", EXTENT / seconds / 1e6, "M/s",
            "plain Python", python / 1e6, more_is_better=True,
        )  # fmt: skip

    kernel = gemm_kernel()
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((SIZE, SIZE)).astype(np.float16) for _ in range(2))
    result = np.zeros((SIZE, SIZE), np.float32)
    flops = 2 * SIZE**3
    wide = [matrix.astype(np.float64) for matrix in (left, right)]
    numpy = flops / median_seconds(lambda: wide[0] @ wide[1])
    for check in (False, True):
        kernel.options = {"check": check}
        rate = flops / median_seconds(lambda: kernel(left, right, result), rounds=5)
        how = "watched" if check else "unwatched"
        yield Figure(
            f"interpreter, {how}: gemm {SIZE} x {SIZE} x {SIZE}", rate / 1e9, "GFLOP/s",
            "numpy in float64", numpy / 1e9, more_is_better=True,
        )  # fmt: skip
