"""Mutants of our own PTX for sm_90a: is every wait, arrive, fence, commit and bounds test needed?

Some kernels are compiled for sm_90a. Each instruction that orders memory, and each test that keeps
an access within bounds, is removed from the PTX by itself, and the virtual GPU runs what is left in
both of its modes with all checks. A mutant is *reported* by a finding, a deadlock or a wrong
result. One that is not is *redundant* if a rule of `REASONS` says why; otherwise it *survives*,
which is a defect: of the virtual GPU's checks, or of the code, which has an instruction too many.

    python test/fuzz/ptx_mutants.py                 every mutant of every kernel
    python test/fuzz/ptx_mutants.py gemm seed       of these kernels
    python test/fuzz/ptx_mutants.py gemm --line 93  one mutant, with what was seen
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
import tilewright
import tilewright.language as T
from tilewright.arguments import convert_argument
from tilewright.compat import imports
from tilewright.errors import reporting
from tilewright.vgpu import read_launch

ROOT = Path(__file__).resolve().parents[2]
DEVICE = "vgpu:sm_90a"
MODES = ("", "late")

# ---- Kernels ----


@dataclass
class Kernel:
    """A compiled kernel, what it is called with, and how far a right result may lie off."""

    compiled: Any
    arguments: list[np.ndarray]
    tolerance: float = 0.0

    @property
    def ptx(self) -> str:
        return self.compiled.ptx


def _numbers(seed: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def _gemm(
    sizes: tuple[int, int, int], tile: tuple[int, int, int], stages: int = 3, threads: int = 256,
    dtype: str = "float16", dynamic: bool = False, out: str = "float32",
) -> Kernel:  # fmt: skip
    (m, n, k), (bm, bn, bk) = sizes, tile
    if dynamic:
        m, k = T.dynamic("m"), T.dynamic("k")

    @T.prim_func
    def main(A: T.Tensor((m, k), dtype), B: T.Tensor((n, k), dtype), C: T.Tensor((m, n), out)):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=threads) as (bx, by):
            a = T.alloc_shared((bm, bk), dtype)
            b = T.alloc_shared((bn, bk), dtype)
            c = T.alloc_fragment((bm, bn), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, bk), num_stages=stages):
                T.copy(A[by * bm, i * bk], a)
                T.copy(B[bx * bn, i * bk], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * bm, bx * bn])

    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    rows, _, depth = sizes
    arrays = [_numbers(1, (rows, depth), kind), _numbers(2, (n, depth), kind),
              np.full((rows, n), 7, out)]  # fmt: skip
    if dynamic:  # what lies beyond the end of a row is no number, times the zero of the other tile
        for array in arrays[:2]:
            array[1::2, :2] = np.inf
    return Kernel(tilewright.compile(main, device=DEVICE), arrays)


def _sums() -> Kernel:
    """Copies by cp.async whose zeros beyond the edges can be seen: sums of rows, a product."""
    m, n, k = 72, 40, 264

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((n, k), "float16"),
             C: T.Tensor((m, n), "float32"), D: T.Tensor((2, 64), "float16"),
             E: T.Tensor((2, 64), "float16")):  # fmt: skip
        with T.Kernel(2, threads=128) as by:
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            d = T.alloc_fragment((64,), "float16")
            e = T.alloc_fragment((64,), "float16")
            T.clear(c)
            T.clear(d)
            T.clear(e)
            for i in T.Pipelined(T.ceildiv(k, 64), num_stages=2):
                T.copy(A[by * 64, i * 64], a, disable_tma=True)
                T.copy(B[0, i * 64], b, disable_tma=True)
                T.gemm(a, b, c, transpose_B=True)
                T.reduce_sum(a, d, dim=0, clear=False)
                T.reduce_sum(b, e, dim=1, clear=False)
            T.copy(c, C[by * 64, 0])
            T.copy(d, D[by, 0:64])
            T.copy(e, E[by, 0:64])

    arrays = [_numbers(1, (m, k), np.float16) + np.float16(4),
              _numbers(2, (n, k), np.float16) + np.float16(4),
              np.full((m, n), 7, np.float32), *np.full((2, 2, 64), 7, np.float16)]  # fmt: skip
    return Kernel(tilewright.compile(main, device=DEVICE), arrays)


def _attention() -> Kernel:
    """Two bulk copies at different places of the loop, products from registers, masked columns."""
    with patch.object(sys, "path", [str(ROOT / "examples"), *sys.path]):
        from flash_attention import flash_attention
    function = flash_attention(1, 1, 200, 64, True, block_M=128, block_N=32, stages=2)
    shape = (1, 200, 1, 64)
    arrays = [_numbers(seed, shape, np.float16) / np.float16(4) for seed in range(3)]
    arrays.append(np.full(shape, 7, np.float16))
    return Kernel(tilewright.compile(function, device=DEVICE), arrays, tolerance=2.0**-8)


def _turns() -> Kernel:
    """Warpgroups that take turns: too few registers for a product beside the next softmax."""
    imports.install()
    with patch.object(sys, "path", [str(ROOT / "benchmarks"), *sys.path]):
        from hopper_kernels import attention
    function = attention(1, 1, 256, 128, False, block_M=256, block_N=64)
    shape = (1, 256, 1, 128)
    arrays = [_numbers(seed, shape, np.float16) / np.float16(4) for seed in range(3)]
    arrays.append(np.full(shape, 7, np.float16))
    return Kernel(tilewright.compile(function, device=DEVICE), arrays, tolerance=2.0**-8)


def _read_tile() -> Kernel:
    """Lanes read the tile of a bulk copy by themselves, before a product reads it."""

    @T.prim_func
    def main(A: T.Tensor((64, 320), "float16"), C: T.Tensor((64, 64), "float32"),
             D: T.Tensor((64, 64), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            d = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            T.clear(d)
            for k in T.Pipelined(5, num_stages=2):
                T.copy(A[0, k * 64], a)
                for i, j in T.Parallel(64, 64):
                    d[i, j] += a[i, j]
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C)
            T.copy(d, D)

    arrays = [_numbers(1, (64, 320), np.float16), *np.zeros((2, 64, 64), np.float32)]
    return Kernel(tilewright.compile(main, device=DEVICE), arrays)


def _once() -> Kernel:
    """Bulk copies outside of pipelines: once, and in a loop into a tile that threads wrote."""

    @T.prim_func
    def main(A: T.Tensor((192, 64), "float32"), B: T.Tensor((64, 64), "float32"),
             C: T.Tensor((64, 64), "float32")):  # fmt: skip
        with T.Kernel(1, threads=128):
            s = T.alloc_shared((64, 64), "float32")
            t = T.alloc_shared((64, 64), "float32")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(B, t)
            for i, j in T.Parallel(64, 64):
                s[i, j] = i - j
            for i, j in T.Parallel(64, 64):
                c[i, j] = s[j, i] + t[j, i]
            for r in T.serial(3):
                T.copy(A[r * 64, 0], s)
                for i, j in T.Parallel(64, 64):
                    c[i, j] += s[j, i]
            T.copy(c, C)

    arrays = [_numbers(1, (192, 64), np.float32), _numbers(2, (64, 64), np.float32),
              np.zeros((64, 64), np.float32)]  # fmt: skip
    return Kernel(tilewright.compile(main, device=DEVICE), arrays)


def _cluster() -> Kernel:
    """Blocks of a cluster copy tiles for each other, and release them in all blocks."""
    m, n, k = 110, 128, 328  # no row of the last warp, and half of those of the one before

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((n, k), "float16"),
             C: T.Tensor((m, n), "float32")):  # fmt: skip
        with T.ClusterKernel(2, 2, cluster_dims=(2, 2), threads=128) as (bx, by):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, 64), num_stages=2):
                T.copy(A[by * 64, i * 64], a)
                T.copy(B[bx * 64, i * 64], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 64, bx * 64])

    arrays = [_numbers(1, (m, k), np.float16), _numbers(2, (n, k), np.float16),
              np.full((m, n), 7, np.float32)]  # fmt: skip
    return Kernel(tilewright.compile(main, device=DEVICE), arrays)


def _named_blocks() -> Kernel:
    """The first two blocks of a cluster of four read the same rows, all of it the same scale."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 256), "float16"),
        S: T.Tensor((16, 64), "float16"),
        B: T.Tensor((64, 256), "float16"),
    ):
        with T.ClusterKernel(4, 4, cluster_dims=(4, 1), threads=128) as (bx, by):
            a = T.alloc_shared((16, 64), "float16")
            s = T.alloc_shared((16, 64), "float16")
            T.copy_cluster(A[by * 16, bx * 64], a, cluster_mask=0b0011)
            T.copy(S, s)
            for i, j in T.Parallel(16, 64):
                B[by * 16 + i, bx * 64 + j] = a[i, j] * s[i, j]

    arrays = [_numbers(1, (64, 256), np.float16), _numbers(2, (16, 64), np.float16),
              np.full((64, 256), 7, np.float16)]  # fmt: skip
    return Kernel(tilewright.compile(main, device=DEVICE), arrays)


def _persistent() -> Kernel:
    """The producer goes on to the next tile while the result of one is stored."""
    m, n, k, tile = 110, 128, 200, 64

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((n, k), "float16"),
             C: T.Tensor((m, n), "float16")):  # fmt: skip
        with T.Kernel(2, threads=128) as block:
            a = T.alloc_shared((tile, 64), "float16")
            b = T.alloc_shared((tile, 64), "float16")
            c = T.alloc_fragment((tile, tile), "float32")
            for by, bx in T.Persistent([T.ceildiv(m, tile), T.ceildiv(n, tile)], 2, block):
                T.clear(c)
                for i in T.Pipelined(T.ceildiv(k, 64), num_stages=2):
                    T.copy(A[by * tile, i * 64], a)
                    T.copy(B[bx * tile, i * 64], b)
                    T.gemm(a, b, c, transpose_B=True)
                T.copy(c, C[by * tile, bx * tile])

    arrays = [_numbers(1, (m, k), np.float16), _numbers(2, (n, k), np.float16),
              np.full((m, n), 7, np.float16)]  # fmt: skip
    return Kernel(tilewright.compile(main, device=DEVICE), arrays)


def _seed() -> Kernel:
    """The seed's smallest case for sm_90."""
    imports.install()
    with patch.object(sys, "path", [str(ROOT / "examples" / "seed"), *sys.path]):
        import run_seed
        from reference import attention_backward
    case = next(case for case in run_seed.SMALL if case.arch == "sm_90")
    inputs = run_seed.make_inputs(case, np.random.default_rng(0))
    expected = attention_backward(**inputs, groups=case.groups, window=case.window)
    arrays = [*inputs.values(), expected["lse"], expected["delta"]]
    arrays += [np.zeros(expected[name].shape, np.float32) for name in ("dQ", "dK", "dV")]
    return Kernel(run_seed.load_kernel(case, DEVICE), arrays, run_seed.TOLERANCE)


KERNELS: dict[str, Callable[[], Kernel]] = {
    "gemm": partial(_gemm, (136, 72, 328), (128, 64, 64)),
    "gemm of run-time shape": partial(_gemm, (72, 72, 328), (64, 64, 64), 2, 128, dynamic=True),
    "sums of tiles": _sums,
    "gemm with one stage": partial(_gemm, (72, 40, 200), (64, 32, 64), 1, 128),
    "fp8 gemm": partial(_gemm, (136, 80, 656), (128, 64, 128), 3, 256, "float8_e4m3fn"),
    "tile that a loop reads": _read_tile,
    "copies outside of pipelines": _once,
    "cluster": _cluster,
    "named blocks": _named_blocks,
    "persistent": _persistent,
    "attention": _attention,
    "turns": _turns,
    "seed": _seed,
}

# ---- Mutants ----

#: Instructions that order memory, and the words by which a mutant is counted.
ORDERS = (
    (r"mbarrier\.arrive\.expect_tx", "expect_tx"),
    (r"mbarrier\.arrive", "arrive"),
    (r"mbarrier\.init", "init"),
    (r"fence\.", "fence"),
    (r"wgmma\.fence", "fence"),
    (r"(wgmma|cp\.async|cp\.async\.bulk)\.commit_group", "commit"),
    (r"(wgmma|cp\.async|cp\.async\.bulk)\.wait_(group|all)", "wait"),
    (r"cp\.async\.mbarrier\.arrive", "arrive"),
    (r"(bar|barrier)(\.cta)?\.(sync|arrive|red)", "barrier"),
    (r"barrier\.cluster\.(arrive|wait)", "cluster barrier"),
    (r"bar\.warp\.sync", "warp barrier"),
    (r"membar", "fence"),
)
_ACCESS = re.compile(r"^\s*(@!?%\w+\s+)?(ld|st|red|atom|cp\.async)\.\S*global|cp\.async\.c[ag]")
_BRANCH = re.compile(r"^\s*@!?%p\d+\s+bra(?:\.uni)?\s+(\S+);")


@dataclass(frozen=True)
class Mutant:
    """The PTX without what stands on some lines."""

    kind: str
    line: int
    what: str
    ptx: str


def mutants_of(ptx: str) -> Iterator[Mutant]:
    """One instruction less each, in the order of the text."""
    lines = ptx.splitlines()
    labels = {text[:-1]: number for number, text in enumerate(lines) if text.endswith(":")}

    def without(kind: str, at: int, count: int = 1, instead: tuple[str, ...] = ()) -> Mutant:
        text = "\n".join([*lines[:at], *instead, *lines[at + count :]]) + "\n"
        return Mutant(kind, at + 1, " ".join(lines[at].split()), text)

    for at, line in enumerate(lines):
        bare = re.sub(r"^\s*(@!?\S+\s+)?", "", line)
        if "mbarrier.try_wait" in line:  # a loop in braces: see `lib/Codegen/Nvptx`
            first = max(n for n in range(at) if lines[n].strip() == "{")
            last = min(n for n in range(at, len(lines)) if lines[n].strip() == "}")
            made = without("mbarrier wait", first, last - first + 1)
            yield Mutant(made.kind, at + 1, " ".join(line.split()), made.ptx)
            continue
        kind = next((kind for pattern, kind in ORDERS if re.match(pattern, bare)), "")
        if kind:
            yield without(kind, at)
            continue
        branch = _BRANCH.match(line)
        if branch and at < labels.get(branch[1], -1) <= at + 60:
            inside = lines[at + 1 : labels[branch[1]]]
            if any(_ACCESS.search(text) for text in inside) and not any(
                _BRANCH.match(text) for text in inside
            ):
                yield without("bounds", at)
        elif re.match(r"\s*@!?%p\d+\s+(ld|st|red|atom|cp)\.", line):
            yield without("bounds", at, 1, (re.sub(r"^(\s*)@!?\S+\s+", r"\1", line),))
        elif found := re.match(r"(.*cp\.async\.c[ag]\S*\s.*\], \[.*\], (\d+)), %r\d+(;.*)", line):
            yield without("bounds", at, 1, (found[1] + found[3],))


# ---- Judgement ----


#: Notes of the virtual GPU that none of our kernels has (docs/vgpu.md).
NOTES = ("warpgroup_release",)


@dataclass(frozen=True)
class Answer:
    """How a mutant showed: "finding", "note", "deadlock", "error", "wrong result", "redundant" or
    "survives"; and what was seen, or why it need not show."""

    kind: str
    text: str

    @property
    def is_reported(self) -> bool:
        return self.kind not in ("redundant", "survives")


@reporting
def _run(kernel: Kernel, options: dict) -> tuple[list[np.ndarray], dict]:
    values = [array.copy() for array in kernel.arguments]
    program = kernel.compiled.program
    parameters = kernel.compiled.params if hasattr(kernel.compiled, "params") else program.params
    converted = [convert_argument(v, p) for v, p in zip(values, parameters, strict=True)]
    return values, program.run(DEVICE, converted, options)


def _seen(kernel: Kernel, expected: list[np.ndarray], ptx: str, mode: str) -> Answer | None:
    """What one run shows, if anything."""
    with patch.dict(os.environ, TILEWRIGHT_VGPU_MODE=mode, TILEWRIGHT_CACHE="0"):
        try:
            values, result = _run(kernel, {"ptx": ptx})
        except tilewright.TilewrightError as error:
            text = str(error)
            return Answer("deadlock" if "deadlock" in text else "error", text)
    for launch in map(read_launch, result["launches"]):
        if launch.findings:
            found = launch.findings[0]
            kind = "deadlock" if "deadlock" in found.kind else "finding"
            return Answer(kind, f"[{found.kind}] {found.message}")
        if told := [note for note in launch.notes if note.kind in NOTES]:
            return Answer("note", f"[{told[0].kind}] {told[0].message}")
    for got, want in zip(values, expected, strict=True):
        got, want = got.astype(np.float64), want.astype(np.float64)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        off = np.abs(got[~same] - want[~same]).max(initial=0)
        if not off <= kernel.tolerance * np.abs(want[np.isfinite(want)]).max(initial=0):
            return Answer("wrong result", f"off by {off:.3g}")
    return None


@cache
def kernel_of(name: str) -> tuple[Kernel, tuple[np.ndarray, ...]]:
    """A kernel, and its arguments after a call, which must be without findings in both modes."""
    kernel = KERNELS[name]()
    expected, _ = _run(kernel, {})
    for mode in MODES:
        seen = _seen(kernel, expected, kernel.ptx, mode)
        assert seen is None, f"{name} itself, mode '{mode}': {seen}"
    return kernel, tuple(expected)


def judge(name: str, mutant: Mutant) -> Answer:
    """Runs a mutant of a kernel."""
    kernel, expected = kernel_of(name)
    for mode in MODES:
        if seen := _seen(kernel, list(expected), mutant.ptx, mode):
            return seen
    for reason in REASONS:
        if reason.covers(kernel.ptx.splitlines(), mutant):
            return Answer("redundant", reason.text)
    return Answer("survives", "")


# ---- Redundant instructions ----


@dataclass(frozen=True)
class Reason:
    """Why some mutants need not show."""

    text: str
    covers: Callable[[list[str], Mutant], bool]


def _is_clustered(lines: list[str]) -> bool:
    """Whether blocks form clusters."""
    return any(".reqnctapercluster" in text for text in lines)


def _is_first_wait(lines: list[str], mutant: Mutant) -> bool:
    """Whether a wait is the first one for its barrier and names the phase before the first."""
    found = re.search(r"done, \[(%r\d+)\], (%r\d+);", mutant.what)
    if mutant.kind != "mbarrier wait" or not found:
        return False
    earlier = lines[: mutant.line - 1]
    is_one = any(re.search(rf"mov\.b32\s+{found[2]}, 1;", text) for text in earlier)
    return is_one and not any(f"done, [{found[1]}]" in text for text in earlier)


def _is_later_fence(lines: list[str], mutant: Mutant) -> bool:
    """Whether a `wgmma.fence` follows another one."""
    earlier = lines[: mutant.line - 1]
    return "wgmma.fence" in mutant.what and any("wgmma.fence" in text for text in earlier)


def _is_last(lines: list[str], mutant: Mutant) -> bool:
    """Whether a barrier has no access to shared memory after it."""
    return mutant.kind == "barrier" and not any(
        re.search(r"\.shared|wgmma|ldmatrix|cp\.async", text) for text in lines[mutant.line :]
    )


def _is_straight(lines: list[str], mutant: Mutant) -> bool:
    """Whether no jump back follows."""
    after = lines[mutant.line :]
    later = {text[:-1] for text in after if text.endswith(":")}
    jumps = [found[1] for text in after if (found := re.search(r"\bbra(?:\.uni)?\s+(\S+);", text))]
    return all(target in later or target.startswith(("over", "wait")) for target in jumps)


def _is_last_fence(lines: list[str], mutant: Mutant) -> bool:
    """Whether no product and no bulk copy follows a proxy fence."""
    after = lines[mutant.line :]
    return (
        "fence.proxy" in mutant.what
        and _is_straight(lines, mutant)
        and not any(re.search(r"wgmma\.mma|cp\.async\.bulk|cp\.reduce", text) for text in after)
    )


def _is_last_release(lines: list[str], mutant: Mutant) -> bool:
    """Whether an arrival stands after the loop."""
    return mutant.kind == "arrive" and _is_straight(lines, mutant)


def _is_before_last_release(lines: list[str], mutant: Mutant) -> bool:
    """Whether products that a commit or a wait orders are waited for once more, and until then a
    warp does nothing but go on with products and release tiles after the loop."""
    after = lines[mutant.line :]
    memory = r"\b(st|ld|red|atom)\.|matrix|bulk"
    last = next((n for n, text in enumerate(after) if re.search(memory, text)), len(after))
    ends = [n for n, text in enumerate(after[:last]) if "wgmma.wait_group.sync.aligned 0" in text]
    return (
        re.search(r"wgmma\.(commit_group|wait_group)", mutant.what) is not None
        and bool(ends)
        and _is_straight(lines, mutant)
        and any("mbarrier.arrive" in text for text in after[: ends[-1]])
    )


def _is_turn(lines: list[str], mutant: Mutant) -> bool:
    """Whether a warpgroup takes its turn, at the barrier of its own number."""
    return re.match(r"bar\.sync %r\d+, %r\d+;", mutant.what) is not None


def _is_acquired(lines: list[str], mutant: Mutant) -> bool:
    """Whether a barrier of the cluster that releases and acquires follows `mbarrier.init`."""
    after = [text.strip() for text in lines[mutant.line :] if "barrier.cluster" in text]
    return (
        "fence.mbarrier_init" in mutant.what
        and after[:1] == ["barrier.cluster.arrive;"]
        and after[1] == "barrier.cluster.wait;"
    )


def _is_between_stores(lines: list[str], mutant: Mutant) -> bool:
    """Whether a wait for bulk stores stands in front of the next one, and another one has waited
    until their tile is read."""
    after = [text for text in lines[mutant.line :] if "cp.async.bulk.tensor" in text]
    before = _since(lines, mutant.line, "cp.async.bulk.wait_group.read")
    return (
        mutant.what == "cp.async.bulk.wait_group 0;"
        and bool(after)
        and ".global.shared::cta" in after[0]
        and "wait_group.read 0" in before[0]
        and not any("cp.async.bulk.tensor" in text for text in before)
    )


def _is_skip(lines: list[str], mutant: Mutant) -> bool:
    """Whether a branch skips cp.async with sizes of their own, and nothing else."""
    if not (branch := _BRANCH.match(mutant.what)):
        return False
    end = next(n for n in range(mutant.line, len(lines)) if lines[n].startswith(branch[1]))
    inside = [text for text in lines[mutant.line : end] if _ACCESS.search(text)]
    return all(re.search(r"cp\.async\.c[ag].*, (%r\d+|0);", text) for text in inside)


def _since(lines: list[str], line: int, word: str) -> list[str]:
    """The lines before this one, from the last that has the word."""
    first = max((n for n in range(line - 1) if word in lines[n]), default=0)
    return lines[first : line - 1]


def _is_after_product(lines: list[str], mutant: Mutant) -> bool:
    """Whether a warp's barrier follows the wait for a product, and no lane has read the tile."""
    read = _since(lines, mutant.line, "bar.warp.sync")
    read = _since(read, len(read) + 1, "mbarrier.try_wait")
    return (
        mutant.kind == "warp barrier"
        and any("wgmma.wait_group" in text for text in read)
        and not any(re.search(r"ld\.shared|ldmatrix|ld\.volatile", text) for text in read)
    )


def _is_before_rows(lines: list[str], mutant: Mutant) -> bool:
    """Whether a barrier stands between a product and stores of rows of sums."""
    written = [t for t in lines[mutant.line :] if re.search(r"\.shared|stmatrix|wgmma", t)]
    before = _since(lines, mutant.line, "wgmma.wait_group")
    return (
        mutant.kind == "barrier"
        and bool(written)
        and "stmatrix" in written[0]
        and not any(".shared" in text and "mbarrier" not in text for text in before)
    )


def _is_covered_wait(lines: list[str], mutant: Mutant) -> bool:
    """Whether a producer's wait follows another one for the same round of the loop."""
    found = re.search(r"done, \[%r\d+\], (%r\d+);", mutant.what)
    if mutant.kind != "mbarrier wait" or not found:
        return False
    before = _since(lines, mutant.line, "mbarrier.try_wait")
    return f"], {found[1]};" in before[0] and not any("wgmma" in text for text in before)


def _is_covered_release(lines: list[str], mutant: Mutant) -> bool:
    """Whether the warp meets again before it releases another tile of the same iteration."""
    after = lines[mutant.line :]
    end = next((n for n, text in enumerate(after) if re.search(r"\bbar\.sync", text)), len(after))
    arrivals = sum("mbarrier.arrive" in text for text in after[:end])
    return (
        mutant.kind == "warp barrier"
        and arrivals >= 2
        and any("bar.warp.sync" in text for text in after[:end])
    )


def _is_in_next_group(lines: list[str], mutant: Mutant) -> bool:
    """Whether the next commit closes the group too, and a wait for all groups comes first."""
    after = _groups_after(lines, mutant)
    return bool(after) and "commit" in after[0] and after[1].endswith(" 0;")


def _groups_after(lines: list[str], mutant: Mutant) -> list[str]:
    """Commits and waits of products after the commit that is missing."""
    if "wgmma.commit_group" not in mutant.what:
        return []
    rest = map(str.strip, lines[mutant.line :])
    return [text for text in rest if re.search("wgmma.(commit|wait)", text)]


def _is_covered_group(lines: list[str], mutant: Mutant) -> bool:
    """Whether another group is waited for before the last release of an iteration."""
    after = _groups_after(lines, mutant)
    releases = sum("mbarrier.arrive.shared" in text for text in lines[mutant.line :])
    return len(after) > 2 and "commit" in after[1] and after[2].endswith(" 0;") and releases > 1


def _is_covered_end(lines: list[str], mutant: Mutant) -> bool:
    """Whether all products are waited for before the last release of an iteration."""
    after = lines[mutant.line :]
    ends = (n for n, text in enumerate(after) if "wgmma.wait_group.sync.aligned 0" in text)
    end = next(ends, len(after))
    rest = _until(after[end:], r"\bbra\b")
    return (
        "wgmma.wait_group" in mutant.what
        and not any("wgmma.mma" in text for text in after[:end])
        and all(any("mbarrier.arrive" in text for text in part) for part in (after[:end], rest))
    )


def _until(lines: list[str], pattern: str) -> list[str]:
    """The lines before the first one with the pattern."""
    found = (n for n, text in enumerate(lines) if re.search(pattern, text))
    return lines[: next(found, len(lines))]


def _is_between_strangers(lines: list[str], mutant: Mutant) -> bool:
    """Whether nothing but single elements is written to shared memory since the last barrier."""
    before = _since(lines, mutant.line, "bar.sync")
    written = [text for text in before if re.search(r"st\.shared|stmatrix|\batom|\bred\.", text)]
    return mutant.kind == "barrier" and all(re.search(r"st\.shared\.b\d+\s", t) for t in written)


REASONS = (
    Reason(
        "it publishes barriers to the other blocks of a cluster, and the block is alone; within a "
        "block bar.sync orders mbarrier.init and its uses. It stays because CUTLASS has it too",
        lambda lines, mutant: "fence.mbarrier_init" in mutant.what and not _is_clustered(lines),
    ),
    Reason(
        "barrier.cluster.arrive releases and barrier.cluster.wait acquires; the fence is for "
        "relaxed arrivals, and stays because CUTLASS has it",
        _is_acquired,
    ),
    Reason(
        "the tiles that a persistent block stores lie apart: tile-insert-orderings does not know, "
        "and lets the stores of one tensor follow each other",
        _is_between_stores,
    ),
    Reason(
        "a turn orders no memory: without it, warpgroups issue their products at the same time",
        _is_turn,
    ),
    Reason("a new barrier lets the wait for the phase before its first one pass", _is_first_wait),
    Reason(
        "nothing has touched the registers of the sums since the last wgmma.fence (the virtual GPU "
        "checks that)",
        _is_later_fence,
    ),
    Reason(
        "it ends the last iteration of an unrolled loop, and no tile is used after it", _is_last
    ),
    Reason("nothing asynchronous follows", _is_last_fence),
    Reason("the producer copies nothing after the last iteration", _is_last_release),
    Reason(
        "it orders products before the release of a tile into which the producer copies nothing "
        "more, and a wait for all products follows",
        _is_before_last_release,
    ),
    Reason("the copies it skips test their own bounds, and nothing uses what they leave", _is_skip),
    Reason("only a product reads the tile, and a whole warp waits for it", _is_after_product),
    Reason(
        "the producer has waited for another tile of this version, which the same warps release "
        "later in the iteration",
        _is_covered_wait,
    ),
    Reason(
        "the producer waits first for another tile of this version, which the warp releases later, "
        "after its lanes have met again",
        _is_covered_release,
    ),
    Reason(
        "the next commit closes the group too, and no wait tells the two apart", _is_in_next_group
    ),
    Reason(
        "its products end with the next group, before the warp releases the tile for which the "
        "producer waits first",
        _is_covered_group,
    ),
    Reason(
        "its products end with the next wait, before the warp releases the tile for which the "
        "producer waits first",
        _is_covered_end,
    ),
    Reason(
        "a warp writes over rows of a product's operand that it alone has read", _is_before_rows
    ),
    Reason(
        "no thread reads what another one wrote since the last barrier: tile-insert-orderings "
        "knows tiles, not elements",
        _is_between_strangers,
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="KERNEL", help=", ".join(KERNELS))
    parser.add_argument("--line", type=int, help="the mutant of this line of the PTX")
    parser.add_argument("--kind", help="mutants of this kind")
    parser.add_argument("--print", action="store_true", help="the kernel's PTX")
    options = parser.parse_args()
    if unknown := set(options.names) - set(KERNELS):
        parser.error(f"no kernel {', '.join(sorted(unknown))}; there are {', '.join(KERNELS)}")
    survivors = 0
    for name in options.names or KERNELS:
        kernel, _ = kernel_of(name)
        if options.print:
            print(kernel.ptx)
            continue
        tally: Counter[tuple[str, str]] = Counter()
        for mutant in mutants_of(kernel.ptx):
            if options.line not in (None, mutant.line) or options.kind not in (None, mutant.kind):
                continue
            answer = judge(name, mutant)
            tally[mutant.kind, answer.kind] += 1
            survivors += answer.kind == "survives"
            if options.line or not answer.is_reported:
                print(f"{name}:{mutant.line}: {mutant.kind}: {mutant.what}: {answer.kind}: "
                      f"{answer.text}", flush=True)  # fmt: skip
        for (kind, answer), count in sorted(tally.items()):
            print(f"{name}: {count} x {kind}: {answer}", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
