"""Matrix products: float32 with the tiles of a GPU program and with tuned ones, narrow types."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import tilewright
import tilewright.language as T
from figures import Figure

from cpu_speed.measure import THREAD_COUNTS, torch, use_threads
from cpu_speed.peak import peak_gflops
from cpu_speed.report import rate_figures

GPU_TILES = (128, 128, 32)
# What the tuner chooses from on a CPU: tiles that fill a second-level cache, and tiles with all of
# k, whose operands serve several blocks and whose sums need no tile.
CPU_TILES = [
    (256, 256, 256), (256, 512, 256), (512, 512, 128), (512, 512, 256), (256, 256, 512),
    (512, 128, 512), (512, 256, 512), (512, 512, 512), (512, 256, 1024), (1024, 128, 1024),
    (1024, 256, 1024), (1024, 64, 2048),
]  # fmt: skip
SIZES = (512, 1024, 2048)
NARROW = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "int8": np.int8}


@tilewright.jit
def matmul(size, dtype, accumulator, rows, columns, depth):
    """C = A @ B as TileLang programs write it."""

    @T.prim_func
    def main(
        A: T.Tensor((size, size), dtype),
        B: T.Tensor((size, size), dtype),
        C: T.Tensor((size, size), accumulator),
    ):
        grid = (T.ceildiv(size, columns), T.ceildiv(size, rows))
        with T.Kernel(*grid, threads=128) as (bx, by):
            a = T.alloc_shared((rows, depth), dtype)
            b = T.alloc_shared((depth, columns), dtype)
            c = T.alloc_fragment((rows, columns), accumulator)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(size, depth), num_stages=2):
                T.copy(A[by * rows, k * depth], a)
                T.copy(B[k * depth, bx * columns], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * rows, bx * columns])

    return main


def tuned_matmul(size: int, dtype: str, accumulator: str, threads: int):
    """The kernel with the tiles that the tuner picks for so many threads, and these tiles."""
    names = ("rows", "columns", "depth")
    configs = [dict(zip(names, tiles, strict=True)) for tiles in CPU_TILES if max(tiles) <= size]
    use_threads(threads)
    tuned = tilewright.autotune(configs=configs, warmup=20, rep=60, skip_check=True)(matmul)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        kernel = tuned(size, dtype, accumulator)
    return kernel, tuple(kernel.config[name] for name in names)


def float_figures(size: int, limit: float | None) -> Iterator[Figure]:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    c, out = np.zeros_like(a), np.zeros_like(a)
    peers = {"numpy": lambda: np.matmul(a, b, out=out)}
    if torch:
        ta, tb, tc = (torch.from_numpy(x) for x in (a, b, np.zeros_like(a)))
        peers["torch"] = lambda: torch.mm(ta, tb, out=tc)
    exact, work = a @ b, 2e-9 * size**3
    more = f"; FMA peak {limit:.1f}" if limit else ""

    def against_peers(kernel, tiles: tuple, kind: str, target: float, **options):
        kernel(a, b, c)
        assert np.abs(c - exact).max() < 1e-3 * size**0.5
        name = f"gemm f32 {size}, {kind}{'x'.join(map(str, tiles))}"
        yield from rate_figures(name, lambda: kernel(a, b, c), peers, work, "GFLOP/s", target,
                                more, **options)  # fmt: skip

    given = matmul(size, "float32", "float32", *GPU_TILES)
    yield from against_peers(given, GPU_TILES, "", 0.85, scales=size == SIZES[-1])
    for threads in THREAD_COUNTS:
        tuned, tiles = tuned_matmul(size, "float32", "float32", threads)
        yield from against_peers(tuned, tiles, "tuned ", 1.0, counts=(threads,))


def narrow_figures(size: int, dtype: str) -> Iterator[Figure]:
    """Narrow operands and wide sums, with the same tiles as our own float32 beside it."""
    rng = np.random.default_rng(0)
    accumulator = "int32" if dtype == "int8" else "float32"
    draw = {
        "int8": lambda: rng.integers(-128, 128, (size, size), np.int8),
    }.get(dtype, lambda: rng.standard_normal((size, size)).astype(NARROW[dtype]))
    a, b = draw(), draw()
    c = np.zeros((size, size), accumulator)
    wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
    exact = wide_a.astype(np.float64) @ wide_b.astype(np.float64)
    torch_peers = {}
    if torch and dtype == "int8":
        ta, tb = torch.from_numpy(a), torch.from_numpy(b)
        torch_peers["torch"] = lambda: torch._int_mm(ta, tb)
    elif torch:
        kind = getattr(torch, dtype)
        ta, tb = torch.from_numpy(wide_a).to(kind), torch.from_numpy(wide_b).to(kind)
        torch_peers["torch"] = lambda: ta @ tb
    for threads in THREAD_COUNTS:
        kernel, tiles = tuned_matmul(size, dtype, accumulator, threads)
        wide = matmul(size, "float32", "float32", *tiles)
        wide_out = np.zeros((size, size), np.float32)
        kernel(a, b, c)
        assert np.abs(c - exact).max() < (0.5 if dtype == "int8" else 1e-3 * size**0.5)
        own_peers = {"our float32": lambda: wide(wide_a, wide_b, wide_out)}
        for peers, target in ((own_peers, 0.8), (torch_peers, 1.0)):
            yield from rate_figures(
                f"gemm {dtype} {size}, {'x'.join(map(str, tiles))}",
                lambda: kernel(a, b, c),
                peers,
                2e-9 * size**3,
                "GFLOP/s",
                target,
                counts=(threads,),
            )


def figures() -> Iterator[Figure]:
    limit = peak_gflops()
    if limit:
        yield Figure("cpu: FMA peak of one core", limit, "GFLOP/s")
    for size in SIZES:
        yield from float_figures(size, limit)
    yield from narrow_figures(1024, "bfloat16")
    yield from narrow_figures(512, "float16")  # torch's takes seconds beyond
    yield from narrow_figures(1024, "int8")
