"""How compile time grows with the program: the exponent over doubling sizes, phase by phase.

An exponent of 1 is linear. Three kinds of programs: many statements on one tile, one statement with
many accesses, and statements that read each other's tiles transposed in no order.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator

from bench_compile import chain
from figures import Figure

SIZES = (250, 500, 1000, 2000)
#: The exponent that a phase may reach over SIZES; above it the growth is not linear.
MOST = 1.2


def accesses(count: int) -> object:
    """One statement that adds that many elements."""
    import tilewright.language as T

    def total(source, i, j):
        value = source[i, j]
        for k in range(1, count):
            value = value + source[i, j + k]
        return value

    @T.prim_func
    def main(A: T.Tensor((64, count + 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            for i, j in T.Parallel(64, 64):
                B[i, j] = total(A, i, j)

    return main


def shuffled(statements: int) -> object:
    """That many statements on three tiles; each reads another tile, transposed."""
    import tilewright.language as T

    draw = random.Random(0)
    kinds = [draw.randrange(3) for _ in range(statements)]

    @T.macro
    def add(to, source):
        for i, j in T.Parallel(64, 64):
            to[i, j] = source[j, i] * 2.0 + to[i, j]

    @T.macro
    def work(x, y, z, first, last):
        if last - first > 1:
            work(x, y, z, first, (first + last) // 2)
            work(x, y, z, (first + last) // 2, last)
        elif kinds[first] == 0:
            add(x, y)
        elif kinds[first] == 1:
            add(y, z)
        else:
            add(z, x)

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_shared((64, 64), "float32")
            y = T.alloc_shared((64, 64), "float32")
            z = T.alloc_shared((64, 64), "float32")
            T.copy(A, x)
            T.copy(A, y)
            T.copy(A, z)
            work(x, y, z, 0, statements)
            T.copy(x, A)

    return main


PROGRAMS: dict[str, Callable[[int], object]] = {
    "statements": chain,
    "accesses in a statement": accesses,
    "shuffled statements": shuffled,
}


def measure(make: Callable[[int], object], size: int, device: str) -> dict[str, float]:
    """Milliseconds of processor time in each phase of one compilation."""
    start = time.process_time()
    program = make(size).program
    traced = time.process_time()
    compiled = program.compile_cpu() if device == "cpu" else program.compile_gpu(device)
    whole = (time.process_time() - traced) * 1e3
    return {"front end": (traced - start) * 1e3, **dict(compiled["phases"]), "whole": whole}


def exponent(sizes: list[int], times: list[float]) -> float:
    """The slope of log(time) over log(size), by least squares."""
    x = [math.log(size) for size in sizes]
    y = [math.log(max(ms, 1e-3)) for ms in times]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - mean_x) ** 2 for a in x)


def figures() -> Iterator[Figure]:
    """The exponent of each phase that takes a tenth of the time or more."""
    import tilewright

    tilewright.disable_cache()
    try:
        for name, make in PROGRAMS.items():
            for device in ("sm_80", "cpu"):
                runs = [measure(make, size, device) for size in SIZES]
                for phase in runs[-1]:
                    if runs[-1][phase] < runs[-1]["whole"] / 10:
                        continue
                    times = [run[phase] for run in runs]
                    note = " / ".join(f"{ms:.0f}" for ms in times) + " ms"
                    yield Figure(
                        f"{name}, {device}: {phase}",
                        exponent(list(SIZES), times),
                        "",
                        "linear",
                        MOST,
                        note=note,
                    )
    finally:
        tilewright.enable_cache()
