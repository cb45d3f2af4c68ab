"""How compile time grows with the program: the exponent over doubling sizes, phase by phase.

An exponent of 1 is linear. The programs: many statements on one tile, and those of growing.py. The
interpreter compiles nothing: what it does with a program before it runs is the checks.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator

from bench_compile import chain
from figures import Figure

SIZES = (250, 500, 1000, 2000)
#: The exponent that a phase may reach over SIZES; above it the growth is not linear.
MOST = 1.2
#: A compilation that takes more seconds ends its row.
LIMIT = "120"


def measure(make: Callable[[int], object], size: int, device: str) -> dict[str, float]:
    """Milliseconds of processor time in each phase of one compilation."""
    start = time.process_time()
    program = make(size).program
    traced = time.process_time()
    program.check()
    checked = time.process_time()
    phases = []
    if device != "interp":
        compiled = program.compile_cpu() if device == "cpu" else program.compile_gpu(device)
        phases = compiled["phases"]
    return {
        "front end": (traced - start) * 1e3,
        "checks": (checked - traced) * 1e3,
        **dict(phases),
        "whole": (time.process_time() - start) * 1e3,
    }


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
    from growing import PROGRAMS

    tilewright.disable_cache()
    os.environ.setdefault("TILEWRIGHT_COMPILE_SECONDS", LIMIT)
    programs: dict[str, Callable[[int], object]] = {"statements": chain, **PROGRAMS}
    try:
        for name, make in programs.items():
            for device in ("interp", "cpu", "sm_80", "sm_90a"):
                try:
                    runs = [measure(make, size, device) for size in SIZES]
                except Exception as error:  # the limit, as a rule
                    yield Figure(f"{name}, {device}", None, "", note=f"failed: {error}"[:160])
                    continue
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
