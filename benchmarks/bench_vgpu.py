"""The virtual GPU: rates without checks, the price of all checks, and Triton's interpreter mode.

Processor time, so that a busy machine does not decide; PTX is loaded once, outside of the times.
Triton's interpreter runs in a Python that has triton and torch: this one, or the one that the
environment variable TILEWRIGHT_TRITON_PYTHON names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from figures import ROOT, Figure, median_seconds

LOOPS = ROOT / "benchmarks" / "vgpu_loops.ptx"
PTX = ROOT / "vgpu" / "test" / "third_party" / "ptx"
NO_SCRATCH = (np.uint64(0), np.uint64(0))  # what Triton's kernels get after their own arguments
i32, f16, f32 = np.int32, np.float16, np.float32

# The targets of the design.
LANE_RATE, MATRIX_RATE, SLOWDOWN = 400e6, 8e9, 5
AGAINST_TRITON = {"none": 40, "all": 12}


@dataclass
class Work:
    """One launch that can be repeated."""

    name: str
    file: str  # in PTX, or the loops
    entry: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    make_args: Callable[[np.random.Generator], list]
    shared_bytes: int = 0

    def prepare(self) -> Callable[[str], dict]:
        """Loads it; the function that comes back launches with some checks, gives the counters."""
        from tilewright import vgpu

        path = PTX / f"{self.file}.ptx" if self.file else LOOPS
        module = vgpu.Module(path.read_text(), path.name)
        args = self.make_args(np.random.default_rng(0))

        def run(checks: str) -> dict:
            result = module.launch(
                self.entry, self.grid, self.block, args, self.shared_bytes,
                checks=checks, count_memory=checks == "all", threads=1,
            )  # fmt: skip
            assert not result.findings, result.findings[0]
            return result.counters

        return run


def normal(rng: np.random.Generator, shape, dtype) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


def loop(entry: str, rounds: int) -> Work:
    return Work(entry, "", entry, 4, 128, lambda rng: [np.uint32(rounds), np.zeros(512, np.uint32)])


def triton_launch(name: str) -> dict:
    return json.loads((PTX / "triton.json").read_text())[name]


def triton_matmul(size: int = 256) -> Work:
    def args(rng):
        a, b = normal(rng, (size, size), f16), normal(rng, (size, size), f16)
        return [a, b, np.zeros((size, size), f32), *[i32(size)] * 5, *NO_SCRATCH]

    name = "triton_matmul_f16_sm80"
    shared = triton_launch(name)["shared_bytes"]
    grid = (size // 64, size // 64)
    return Work(f"Triton's matmul, {size}, f16", name, "matmul", grid, 128, args, shared)


def triton_attention(length: int = 512) -> Work:
    def args(rng):
        heads = [normal(rng, (2, length, 32), f16) for _ in range(3)]
        return [*heads, np.zeros_like(heads[0]), i32(length), f32(0.25), *NO_SCRATCH]

    name = "triton_attention_sm80"
    shared = triton_launch(name)["shared_bytes"]
    grid = (length // 64, 2)
    return Work("Triton's attention", name, "flash_attention", grid, 128, args, shared)


def square(rng, size: int, count: int) -> list:
    """`count` sizes, two factors and a result."""
    a, b = normal(rng, (size, size), f32), normal(rng, (size, size), f32)
    return [*[i32(size)] * count, a, b, np.zeros((size, size), f32)]


WORKS = [
    loop("integers", 4000),
    loop("floats", 4000),
    loop("products", 1000),
    triton_matmul(),
    triton_attention(),
    Work("saxpy", "elementwise.sm_80", "saxpy", 2048, 128,
         lambda rng: [i32(1 << 18), f32(2.5), *(normal(rng, 1 << 18, f32) for _ in range(2))]),
    Work("matmul in f32, 16 x 16 tiles", "matmul_tiled.sm_80", "matmul_tiled", (8, 8), (16, 16),
         lambda rng: square(rng, 128, 3)),
    Work("matmul in f32, 64 x 64 tiles", "matmul_tiled.sm_80", "matmul_blocked", (2, 2), (16, 16),
         lambda rng: square(rng, 128, 2), shared_bytes=8192),
    Work("transpose", "transpose.sm_80", "transpose_padded", (16, 16), (32, 8),
         lambda rng: [i32(512), *square(rng, 512, 1)[:2], np.zeros((512, 512), f32)]),
    Work("reduction", "reduce.sm_80", "reduce_tree", 512, 128,
         lambda rng: [i32(1 << 16), rng.integers(-9, 9, 1 << 16).astype(i32), np.zeros(512, i32)],
         shared_bytes=512),
    Work("softmax", "softmax.sm_80", "softmax_rows", 64, 64,
         lambda rng: [i32(1000), normal(rng, (64, 1000), f32), np.zeros((64, 1000), f32)]),
    Work("histogram", "histogram.sm_80", "histogram_shared", 16, 128,
         lambda rng: [i32(1 << 16), rng.integers(0, 256, 1 << 16).astype(np.uint8),
                      np.zeros(256, np.uint32)]),
]  # fmt: skip


def rate_figures() -> Iterator[Figure]:
    for entry in ("integers", "floats"):
        run = loop(entry, 4000).prepare()
        lanes = 32 * run("none")["warp_instructions"]
        rate = lanes / median_seconds(lambda run=run: run("none"))
        yield Figure(f"vgpu: lane instructions, {entry}", rate / 1e6, "M/s a core", "the target",
                     LANE_RATE / 1e6, more_is_better=True)  # fmt: skip
    for work in (loop("products", 1000), triton_matmul()):
        run = work.prepare()
        operations = run("none")["tensor_operations"]
        rate = operations / median_seconds(lambda run=run: run("none"))
        yield Figure(f"vgpu: mma, {work.name}", rate / 1e9, "GFLOP/s a core", "the target",
                     MATRIX_RATE / 1e9, more_is_better=True)  # fmt: skip


def check_figures() -> Iterator[Figure]:
    """All checks and all counters against neither."""
    for work in WORKS:
        run = work.prepare()
        times = {c: median_seconds(lambda c=c, run=run: run(c)) for c in ("none", "all")}
        note = f"   {1e3 * times['none']:.1f} and {1e3 * times['all']:.1f} ms"
        yield Figure(f"vgpu: price of all checks, {work.name}", times["all"] / times["none"],
                     "times", "the target", SLOWDOWN, note=note)  # fmt: skip


def triton_seconds() -> float | None:
    """The interpreter's time for the matmul; None where triton is not installed."""
    python = os.environ.get("TILEWRIGHT_TRITON_PYTHON", sys.executable)
    script = ROOT / "benchmarks" / "triton_interpreter.py"
    probe = [python, "-c", "import torch, triton"]
    if subprocess.run(probe, check=False, capture_output=True).returncode:
        return None
    done = subprocess.run(
        [python, script], check=True, capture_output=True, text=True,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )  # fmt: skip
    return float(done.stdout)


def triton_figures() -> Iterator[Figure]:
    baseline = triton_seconds()
    run = triton_matmul().prepare()
    for checks, wanted in AGAINST_TRITON.items():
        seconds = median_seconds(lambda checks=checks: run(checks))
        name = f"vgpu: matmul of 256, f16, checks: {checks}"
        note = f"   (target {wanted} x)" if baseline else "triton is not installed here"
        yield Figure(name, 1e3 * seconds, "ms", "Triton's interpreter",
                     baseline and 1e3 * baseline, note=note)  # fmt: skip


def figures() -> Iterator[Figure]:
    yield from rate_figures()
    yield from check_figures()
    yield from triton_figures()
