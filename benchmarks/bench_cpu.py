"""The CPU backend: matrix products against numpy, and the seed kernel.

Processor time, so that a busy machine does not decide: GFLOP are counted for each second that one
core worked. Both sides of a ratio run in turns in one process.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import time
from collections.abc import Callable, Iterator

import ml_dtypes
import numpy as np
from figures import ROOT, Figure

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
ROUNDS = 9


def in_turns(*actions: Callable[[], object]) -> list[float]:
    """The median processor seconds of each action; they take turns."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(ROUNDS + 2):
        for action, samples in zip(actions, times, strict=True):
            start = time.process_time()
            action()
            samples.append(time.process_time() - start)
    return [statistics.median(samples[2:]) for samples in times]


def matmul_kernel(size: int, tiles: tuple[int, int, int], dtype: str):
    """C = A @ B with the usual tiles of a GPU program."""
    import tilewright
    import tilewright.language as T

    rows, columns, depth = tiles

    @T.prim_func
    def matmul(
        A: T.Tensor((size, size), dtype),
        B: T.Tensor((size, size), dtype),
        C: T.Tensor((size, size), "float32"),
    ):
        grid = (T.ceildiv(size, columns), T.ceildiv(size, rows))
        with T.Kernel(*grid, threads=128) as (bx, by):
            a = T.alloc_shared((rows, depth), dtype)
            b = T.alloc_shared((depth, columns), dtype)
            c = T.alloc_fragment((rows, columns), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(size, depth), num_stages=2):
                T.copy(A[by * rows, k * depth], a)
                T.copy(B[k * depth, bx * columns], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * rows, bx * columns])

    return tilewright.compile(matmul, device="cpu")


def matmul_figures() -> Iterator[Figure]:
    rng = np.random.default_rng(0)
    for_a_gpu, for_a_cpu = (128, 128, 32), (96, 256, 256)
    cases = [(n, tiles, "float32") for n in (512, 1024, 2048) for tiles in (for_a_gpu, for_a_cpu)]
    cases += [(1024, for_a_gpu, dtype) for dtype in ("float16", "bfloat16")]
    for size, tiles, dtype in cases:
        a, b = (rng.standard_normal((size, size)).astype(DTYPES[dtype]) for _ in range(2))
        c = np.zeros((size, size), np.float32)
        wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
        kernel = matmul_kernel(size, tiles, dtype)
        kernel(a, b, c)
        assert np.abs(c - wide_a @ wide_b).max() < 1e-3 * size**0.5
        ours, numpy = in_turns(lambda: kernel(a, b, c), lambda: wide_a @ wide_b)
        work = 2e-9 * size**3
        shape = "x".join(map(str, tiles))
        yield Figure(f"cpu: gemm {dtype} {size}, tiles {shape}", work / ours, "GFLOP/s a core",
                     "numpy float32", work / numpy, more_is_better=True)  # fmt: skip


def seed_kernel(heads: int, length: int, dim: int, dtype: str):
    """The flash-attention backward kernel of the seed, compiled for the CPU."""
    from tilewright.cli import imports

    imports.install()
    path = ROOT / "examples" / "seed" / "flash_attention_backward.py"
    spec = importlib.util.spec_from_file_location("seed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.flashattn_bwd(1, heads, length, dim, 1, dtype=dtype)


def seed_figures() -> Iterator[Figure]:
    heads, length, dim = 8, 1024, 128
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        kernel = seed_kernel(heads, length, dim, dtype)
        shape = (1, heads, length, dim)
        inputs = [(0.5 * rng.standard_normal(shape)).astype(DTYPES[dtype]) for _ in range(4)]
        inputs += [np.full(shape[:3], np.log2(length), np.float32), np.zeros(shape[:3], np.float32)]
        outputs = [np.zeros(shape, np.float32) for _ in range(3)]
        (seconds,) = in_turns(lambda: kernel(*inputs, *outputs))
        work = 5e-9 * heads * length * length * dim  # five products, half of them masked
        note = f" {1e3 * seconds:.0f} ms of processor time"
        name = f"cpu: seed {dtype}, {heads} x {length} x {dim}"
        yield Figure(name, work / seconds, "GFLOP/s a core", note=note)
        phases = dict(kernel.program.compile_cpu()["phases"])
        yield Figure(f"cpu: seed {dtype}, compile", sum(phases.values()), "ms", "the budget", 1000)


def figures() -> Iterator[Figure]:
    os.environ["TILEWRIGHT_DEVICE"] = "cpu"
    yield from matmul_figures()
    yield from seed_figures()
