"""What the code of a kernel needs and executes, beside TileLang's from the same source.

Three scripts of `examples/` are compiled by tilewright and, where the package `tilelang` and nvcc
are installed, by TileLang: unmodified, at the same sizes. ptxas says registers and spills, nvdisasm
the instructions; the virtual GPU runs the PTX of both on a smaller problem and counts the
instructions that its warps execute. Nothing here needs a GPU. TileLang is looked for in the Python
that runs this, or in the one that TILEWRIGHT_PEER_PYTHON names.
For sm_90a the kernels of hopper.py follow, each against its bar.
"""

from __future__ import annotations

import os
import runpy
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from figures import ROOT, Figure
from machine_code import disassemble, find_nvdisasm, warps_per_processor
from peers import ask_peer, find_peer
from tilewright.ptxas import Cubin, assemble, find_ptxas

ARCH = "sm_80"  # run_benchmarks.py --arch sets another
#: Of these more is better; of everything else less is.
MORE_IS_BETTER = {"warps on a processor"}


@dataclass(frozen=True)
class Case:
    """A kernel: a script, its function, the size that is compiled and the one that is run."""

    name: str
    script: str
    function: str
    size: dict[str, Any]
    run_size: dict[str, Any]
    pass_configs: dict[str, Any] = field(default_factory=dict)


CASES = [
    Case(
        "seed",
        "seed/flash_attention_backward.py",
        "flashattn_bwd",
        {"batch": 1, "heads": 64, "seq_len": 4096, "dim": 128, "groups": 8},
        {"batch": 1, "heads": 2, "seq_len": 256, "dim": 128, "groups": 2},
    ),
    Case(
        "gemm",
        "matmul.py",
        "matmul",
        {"M": 1024, "N": 1024, "K": 1024},
        {"M": 256, "N": 256, "K": 1024},
    ),
    Case(
        "attention",
        "flash_attention.py",
        "flash_attention",
        {"batch": 1, "heads": 32, "seq_len": 4096, "dim": 64, "causal": False},
        {"batch": 1, "heads": 1, "seq_len": 512, "dim": 64, "causal": False},
    ),
    Case(
        "attention, fast math",
        "flash_attention.py",
        "flash_attention",
        {"batch": 1, "heads": 32, "seq_len": 4096, "dim": 64, "causal": False},
        {"batch": 1, "heads": 1, "seq_len": 512, "dim": 64, "causal": False},
        {"tl.enable_fast_math": True},
    ),
    Case(
        "causal attention",
        "flash_attention.py",
        "flash_attention",
        {"batch": 1, "heads": 32, "seq_len": 4096, "dim": 64, "causal": True},
        {"batch": 1, "heads": 1, "seq_len": 512, "dim": 64, "causal": True},
    ),
    Case(
        "causal attention, heads of 128",
        "flash_attention.py",
        "flash_attention",
        {"batch": 1, "heads": 32, "seq_len": 4096, "dim": 128, "causal": True},
        {"batch": 1, "heads": 1, "seq_len": 512, "dim": 128, "causal": True},
    ),
]


@dataclass(frozen=True)
class Built:
    """What the machine code of one kernel says of itself."""

    threads: int
    shared_bytes: int
    cubin: Cubin

    def figures(self) -> dict[str, int]:
        """By name, in the order of the table."""
        (usage,) = self.cubin.usage.values()
        shared = self.shared_bytes + usage.static_shared_bytes
        found = {
            "registers": usage.registers,
            "spill bytes": usage.spill_store_bytes,
            "shared bytes": shared,
            "warps on a processor": warps_per_processor(self.threads, usage.registers, shared),
        }
        if find_nvdisasm():
            listing = disassemble(self.cubin.data)
            found["SASS"] = len(listing.names)
            found["SASS of the main loop"] = len(listing.main_loop)
            found["HMMA of the main loop"] = listing.main_loop.count("HMMA")
            found["LDSM of the main loop"] = listing.main_loop.count("LDSM")
        return found


def build_ours(case: Case, size: dict[str, Any]) -> tuple[Any, Built]:
    """The kernel by tilewright."""
    import tilewright
    from tilewright.compat import imports

    imports.install()  # from here on `tilelang` means tilewright
    os.environ.update(TILEWRIGHT_ARCH=ARCH, TILEWRIGHT_DEVICE=f"vgpu:{ARCH}")  # the seed asks
    function = runpy.run_path(str(ROOT / "examples" / case.script))[case.function]
    made = function(**size)
    kernel = made
    if not hasattr(made, "ptx"):
        kernel = tilewright.compile(made, target=ARCH, pass_configs=case.pass_configs)
    (info,) = kernel.program.compile_gpu(ARCH)["kernels"]
    return kernel, Built(info["threads"], info["shared_bytes"], assemble(kernel.ptx, ARCH))


def requests(folder: Path) -> list[dict[str, Any]]:
    """For each case one at its size and one at the size that is run."""
    return [
        {
            "file": str(ROOT / "examples" / case.script),
            "function": case.function,
            "arguments": size,
            "pass_configs": case.pass_configs,
            "ptx": str(folder / f"{number}-{kind}.ptx"),
        }
        for number, case in enumerate(CASES)
        for kind, size in (("full", case.size), ("run", case.run_size))
    ]


def make_arguments(kernel: Any) -> dict[str, np.ndarray]:
    """Small random numbers for every tensor; what a kernel adds to or overwrites starts the same
    for both compilers."""
    rng = np.random.default_rng(0)
    return {
        parameter["name"]: (0.25 * rng.standard_normal(parameter["shape"])).astype(
            getattr(ml_dtypes, parameter["dtype"], parameter["dtype"])
        )
        for parameter in kernel.params
    }


def run_ours(kernel: Any) -> tuple[int, dict[str, np.ndarray]]:
    """Executed warp instructions, and the tensors afterwards."""
    from tilewright.vgpu import read_launch

    tensors = make_arguments(kernel)
    kernel.options["checks"] = "none"
    kernel(*tensors.values())
    (launch,) = kernel.last_run["launches"]
    return read_launch(launch).counters["warp_instructions"], tensors


def map_tensor(tensor: np.ndarray, described: dict[str, Any]) -> Any:
    """The descriptor that TileLang's host code makes of a tensor."""
    from tilewright.vgpu import TensorMap

    extents, strides, box = (described[name][::-1] for name in ("extents", "strides", "box"))
    strides[-1] = tensor.itemsize  # the driver takes none for the innermost dimension
    view = np.lib.stride_tricks.as_strided(tensor, extents, strides)
    return TensorMap(view, box, swizzle=described["swizzle"])


def run_peer(kernel: Any, answer: dict[str, Any], ptx: str) -> tuple[int, dict[str, np.ndarray]]:
    """The same of TileLang's PTX. `kernel` is ours, for the shapes."""
    from tilewright.vgpu import launch

    tensors = make_arguments(kernel)
    maps = {
        name: map_tensor(tensors[described["tensor"]], described)
        for name, described in answer["maps"].items()
    }
    result = launch(
        ptx, answer["entry"], answer["grid"], answer["block"],
        [maps.get(name, tensors.get(name)) for name in answer["parameters"]],
        shared_bytes=answer["shared_bytes"], arch=ARCH, checks="none", count_memory=False,
    )  # fmt: skip
    return result.counters["warp_instructions"], tensors


def largest_difference(ours: dict[str, np.ndarray], peer: dict[str, np.ndarray]) -> float:
    """Of any element, relative to the largest of its tensor."""
    return max(
        float(np.abs(ours[name].astype(np.float64) - peer[name]).max() / np.abs(peer[name]).max())
        for name in ours
    )


def compare(
    case: Case, answers: tuple[dict[str, Any], dict[str, Any]] | None, prefix: Path
) -> Iterator[Figure]:
    """The figures of one kernel, beside TileLang's if there are any."""

    def figure(what: str, ours: int, peer: int | None, note: str = "") -> Figure:
        against = "" if peer is None else "TileLang"
        if peer == 0:  # no ratio
            note = "TileLang 0"
        return Figure(f"{case.name}: {what}", ours, "", against, peer, what in MORE_IS_BETTER, note)

    _, ours = build_ours(case, case.size)
    kernel, _ = build_ours(case, case.run_size)
    executed, tensors = run_ours(kernel)
    peer_figures: dict[str, int] = {}
    peer_executed, note = None, ""
    if answers:
        full, run = answers
        code = Path(f"{prefix}-full.ptx").read_text()
        peer = Built(full["block"][0], full["shared_bytes"], assemble(code, ARCH))
        peer_figures = peer.figures()
        peer_executed, peer_tensors = run_peer(kernel, run, Path(f"{prefix}-run.ptx").read_text())
        note = f"; results differ by {largest_difference(tensors, peer_tensors):.1e}"
    for what, value in ours.figures().items():
        yield figure(what, value, peer_figures.get(what))
    yield figure("executed warp instructions", executed, peer_executed, note)


def figures() -> Iterator[Figure]:
    if not find_ptxas():
        yield Figure("static quality", None, "", note="skipped: ptxas is not installed")
        return
    if not find_nvdisasm():
        yield Figure("SASS", None, "", note="skipped: nvdisasm is not installed")
    python = find_peer("tilelang") if shutil.which("nvcc") else None
    if not python:
        yield Figure("TileLang", None, "", note="skipped: tilelang or nvcc is not installed")
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        answers: list[dict[str, Any]] = []
        if python:
            answers = ask_peer(python, "tilelang_peer.py", ARCH, requests(Path(folder)))
        for number, case in enumerate(CASES):
            pair = (answers[2 * number], answers[2 * number + 1]) if answers else None
            yield from compare(case, pair, Path(folder, str(number)))
    if ARCH == "sm_90a":
        from hopper import figures as hopper_figures

        yield from hopper_figures(python)
