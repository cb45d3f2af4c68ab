"""Python to machine code: where the time of a compilation goes, and how it grows.

Each phase is the least processor time of some rounds in a warm process; every round traces and
compiles anew. Triton compiles the same GEMM and TileLang the same seed, in the same run, where they
are installed (peers.py). `threads` is the code of one thread, `nvvm`
its lowering to LLVM's dialects, `llvm` translation and optimisation, `ptx` NVPTX's code generation.
With `--arch sm_90a`, only Hopper's kernels are compiled, for it and for sm_80.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench_frontend import load_seed
from figures import ROOT, Figure, child_seconds
from peers import ask_peer, find_peer

ROUNDS = 5
PHASES = ("front end", "passes", "threads", "nvvm", "llvm", "ptx", "ptxas")
ARCH = "sm_80"


def seed(arch: str) -> Callable[[], object]:
    """The seed kernel in the script's configuration for `arch`."""
    import os

    os.environ["TILEWRIGHT_ARCH"] = arch
    flashattn_bwd = load_seed()
    batch = iter(range(1, 1000))  # no two rounds alike: nothing can come from a cache

    def make() -> object:
        os.environ.update(TILEWRIGHT_ARCH=arch, TILEWRIGHT_DEVICE="interp")  # it compiles nothing
        return flashattn_bwd(next(batch), 4, 128, 64, 2).prim_func

    return make


def gemm(extent: int = 1024) -> object:
    """A cube in float16: tiles of 128 x 128 x 32, 3 stages."""
    import tilewright.language as T

    @T.prim_func
    def main(
        A: T.Tensor((extent, extent), "float16"),
        B: T.Tensor((extent, extent), "float16"),
        C: T.Tensor((extent, extent), "float16"),
    ):
        with T.Kernel(extent // 128, extent // 128, threads=128) as (bx, by):
            a = T.alloc_shared((128, 32), "float16")
            b = T.alloc_shared((32, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(extent // 32, num_stages=3):
                T.copy(A[by * 128, k * 32], a)
                T.copy(B[k * 32, bx * 128], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 128, bx * 128])

    return main


def attention() -> object:
    """Flash-attention forward: blocks of 64 x 64, head dimension 64, 128 threads."""
    import tilewright.language as T

    scale = 1.44269504 / 8

    @T.prim_func
    def main(
        Q: T.Tensor((512, 64), "float16"),
        K: T.Tensor((512, 64), "float16"),
        V: T.Tensor((512, 64), "float16"),
        Output: T.Tensor((512, 64), "float16"),
    ):
        with T.Kernel(8, threads=128) as bx:
            q = T.alloc_shared((64, 64), "float16")
            k = T.alloc_shared((64, 64), "float16")
            v = T.alloc_shared((64, 64), "float16")
            s = T.alloc_fragment((64, 64), "float32")
            p = T.alloc_fragment((64, 64), "float16")
            o = T.alloc_fragment((64, 64), "float32")
            top = T.alloc_fragment((64,), "float32")
            before = T.alloc_fragment((64,), "float32")
            factor = T.alloc_fragment((64,), "float32")
            row = T.alloc_fragment((64,), "float32")
            total = T.alloc_fragment((64,), "float32")
            T.copy(Q[bx * 64, 0], q)
            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            for step in T.Pipelined(8, num_stages=2):
                T.copy(K[step * 64, 0], k)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True)
                T.copy(top, before)
                T.reduce_max(s, top, dim=1, clear=False)
                for i in T.Parallel(64):
                    factor[i] = T.exp2((before[i] - top[i]) * scale)
                for i, j in T.Parallel(64, 64):
                    s[i, j] = T.exp2((s[i, j] - top[i]) * scale)
                T.reduce_sum(s, row, dim=1)
                for i in T.Parallel(64):
                    total[i] = total[i] * factor[i] + row[i]
                T.copy(s, p)
                for i, j in T.Parallel(64, 64):
                    o[i, j] *= factor[i]
                T.copy(V[step * 64, 0], v)
                T.gemm(p, v, o)
            for i, j in T.Parallel(64, 64):
                o[i, j] /= total[i]
            T.copy(o, Output[bx * 64, 0])

    return main


def chain(statements: int) -> object:
    """A kernel of that many element-wise statements on a tile."""
    import tilewright.language as T

    @T.macro
    def work(tile, count):
        if count == 1:
            for i, j in T.Parallel(64, 64):
                tile[i, j] = tile[i, j] * 2.0 + 1.0
        else:
            work(tile, count // 2)
            work(tile, count - count // 2)

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((64, 64), "float32")
            T.copy(A, tile)
            work(tile, statements)
            T.copy(tile, A)

    return main


def measure(make: Callable[[], object], arch: str, with_ptxas: bool = True) -> dict[str, float]:
    """The least milliseconds of each phase, nothing taken from disk."""
    import tilewright

    tilewright.disable_cache()
    try:
        return _measure(make, arch, with_ptxas)
    finally:
        tilewright.enable_cache()


def _measure(make: Callable[[], object], arch: str, with_ptxas: bool) -> dict[str, float]:
    from tilewright.ptxas import assemble, find_ptxas

    least: dict[str, float] = {}
    gc.collect()
    for round_number in range(ROUNDS + 1):
        start = time.process_time()
        program = make().program
        times = {"front end": (time.process_time() - start) * 1e3}
        compiled = program.compile_gpu(arch)
        times.update(compiled["phases"])
        if with_ptxas and find_ptxas():
            start = child_seconds()
            assemble(compiled["ptx"], arch)
            times["ptxas"] = (child_seconds() - start) * 1e3
        if round_number:  # the first warms up
            least = {name: min(ms, least.get(name, ms)) for name, ms in times.items()}
    return least


def time_triton() -> dict[str, float]:
    """Triton's milliseconds to PTX and to a cubin for the GEMM; nothing where there is none."""
    python = find_peer("triton")
    return ask_peer(python, "triton_peer.py", ARCH, []) if python else {}


def time_tilelang() -> dict[str, float]:
    """TileLang's milliseconds to CUDA source for the seed, and to PTX through nvcc."""
    python = find_peer("tilelang") if shutil.which("nvcc") else None
    if not python:
        return {}
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        request = {
            "file": str(ROOT / "examples" / "seed" / "flash_attention_backward.py"),
            "function": "flashattn_bwd",
            "arguments": {"batch": 1, "heads": 4, "seq_len": 128, "dim": 64, "groups": 2},
            "pass_configs": {},
            "ptx": str(Path(folder, "seed.ptx")),
        }
        cold, warm = ask_peer(python, "tilelang_peer.py", ARCH, [request, request])
    source = 1e3 * min(cold["seconds"], warm["seconds"])
    return {"source": source, "ptx": source + 1e3 * warm["nvcc_seconds"]}


#: Code for Hopper may take so much of sm_80's time.
HOPPER_BAR = 1.2


def compare_hopper() -> Iterator[Figure]:
    """Python to PTX of hopper.py's kernels for sm_90a, as a part of the time for sm_80."""
    import os
    import runpy

    import hopper
    from tilewright.compat import imports

    imports.install()
    # The seed has tiles of its own for each architecture, and compiles nothing for the interpreter.
    os.environ.update(TILEWRIGHT_ARCH=hopper.ARCH, TILEWRIGHT_DEVICE="interp")
    for row in hopper.ROWS:

        def make(row: hopper.Row = row) -> object:
            made = runpy.run_path(str(ROOT / row.script))[row.function](**row.size)
            return getattr(made, "prim_func", made)

        old, new = (
            sum(measure(make, arch, with_ptxas=False).values()) for arch in ("sm_80", hopper.ARCH)
        )
        name = f"{row.name.split(',')[0]}: {hopper.ARCH} / sm_80"
        yield Figure(
            name, new / old, "", "the bar", HOPPER_BAR, note=f"  {new:.1f} and {old:.1f} ms"
        )


def figures() -> Iterator[Figure]:
    """A line a phase, the total to PTX and to a cubin, and milliseconds a statement."""
    if ARCH == "sm_90a":
        yield from compare_hopper()
        return
    kernels = {
        "seed": (seed("sm_80"), "sm_80"),
        "seed 128/32/2/256": (seed("sm_90"), "sm_90"),
        "gemm 1024^3": (gemm, "sm_80"),
        "attention forward": (attention, "sm_80"),
    }
    tilelang, triton = time_tilelang(), time_triton()
    if not tilelang:
        yield Figure("TileLang", None, "", note="skipped: tilelang or nvcc is not installed")
    if not triton:
        yield Figure("Triton", None, "", note="skipped: triton is not installed")
    peers = {
        ("seed", "PTX"): ("TileLang's CUDA source", tilelang.get("source")),
        ("gemm 1024^3", "PTX"): ("Triton", triton.get("ptx")),
        ("gemm 1024^3", "cubin"): ("Triton", triton.get("cubin")),
    }
    for name, (make, arch) in kernels.items():
        times = measure(make, arch)
        to_ptx = sum(ms for phase, ms in times.items() if phase != "ptxas")
        for phase in PHASES:
            if phase in times:
                share = f"{times[phase] / to_ptx:4.0%} of PTX" if phase != "ptxas" else ""
                yield Figure(f"{name}, {arch}: {phase}", times[phase], "ms", note=share)
        totals = {"PTX": to_ptx}
        if "ptxas" in times:
            totals["cubin"] = to_ptx + times["ptxas"]
        for end, total in totals.items():
            against, baseline = peers.get((name, end), ("", None))
            yield Figure(f"{name}, {arch}: Python to {end}", total, "ms", against, baseline)
    for statements in (8, 16, 32, 64):
        times = measure(lambda count=statements: chain(count), "sm_80", with_ptxas=False)
        total = sum(times.values())
        yield Figure(f"{statements} statements: Python to PTX, each", total / statements, "ms")
    for extent in (1024, 8192, 65536):
        times = measure(lambda extent=extent: gemm(extent), "sm_80", with_ptxas=False)
        yield Figure(f"gemm {extent}^3: Python to PTX", sum(times.values()), "ms")
