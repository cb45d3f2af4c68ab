"""What the main loops of Hopper's kernels need on sm_90a: instructions for each k-tile, the shapes
of the products, spills, shared memory, and what the virtual GPU executes. Each figure has a bar
to meet, set from what TileLang 0.1.15, Triton 3.9 and cuTile 1.7 need for the same kernel.

Part of `run_benchmarks.py static --arch sm_90a`. Where TileLang and nvcc are installed, its own
code of the same kernels is measured in the same run: the instructions of its main loop, registers
and spills, and what its PTX executes on this virtual GPU. Elsewhere the latter is recorded.
"""

from __future__ import annotations

import os
import re
import runpy
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_static import largest_difference, run_ours, run_peer
from figures import ROOT, Figure
from machine_code import Listing, disassemble, find_nvdisasm
from peers import ask_peer
from tilewright.ptxas import assemble

ARCH = "sm_90a"
KERNELS = "benchmarks/hopper_kernels.py"
SEED = "examples/seed/flash_attention_backward.py"


@dataclass(frozen=True)
class Row:
    """A kernel, the bars of its main loop, and what TileLang's code executes."""

    name: str
    function: str
    size: dict[str, Any]
    run_size: dict[str, Any]
    loop: int  # SASS for each k-tile
    products: dict[str, int]  # of a warpgroup and k-tile, by shape
    executed_by_tilelang: int | None = None
    executed: float = 1.0  # at most so much of that
    shared_bytes: int | None = None
    script: str = KERNELS
    pass_configs: dict[str, Any] = field(default_factory=lambda: {"tl.enable_fast_math": True})


def gemm_row(n: int, stages: int, executed_by_tilelang: int) -> Row:
    tile = {"block_M": 128, "block_N": n, "block_K": 64, "stages": stages, "threads": 256}
    return Row(
        f"gemm 128x{n}x64", "gemm",
        {"M": 4096, "N": 4096, "K": 4096, **tile}, {"M": 256, "N": 2 * n, "K": 512, **tile},
        45, {f"HGMMA.64x{n}x16": 4}, executed_by_tilelang, 0.70,
        pass_configs={},
    )  # fmt: skip


def attention_row(name: str, causal: bool, loop: int, executed_by_tilelang: int, bar: float) -> Row:
    size = {"heads": 32, "batch": 8, "seq_len": 4096, "dim": 128, "causal": causal}
    return Row(
        name, "attention", size, {**size, "heads": 1, "batch": 2, "seq_len": 512},
        loop, {"HGMMA.64x128x16": 16}, executed_by_tilelang, bar,
    )  # fmt: skip


FP8 = {"block_M": 128, "block_N": 128, "block_K": 128, "stages": 3, "threads": 256,
       "dtype": "float8_e4m3fn"}  # fmt: skip
ROWS = [
    gemm_row(256, 3, 34_084),
    gemm_row(128, 4, 27_148),
    attention_row("attention 128x128", False, 450, 192_528, 0.80),
    attention_row("causal attention 128x128, unmasked loop", True, 460, 145_356, 0.75),
    Row(
        "seed 128/32/2/256", "flashattn_bwd",
        {"batch": 1, "heads": 64, "seq_len": 4096, "dim": 128, "groups": 8},
        {"batch": 1, "heads": 2, "seq_len": 256, "dim": 128, "groups": 2},
        440, {"HGMMA": 28}, 147_196, 0.75, shared_bytes=124_928, script=SEED,
    ),
    Row(
        "fp8 gemm 128x128x128", "gemm", {"M": 4096, "N": 4096, "K": 4096, **FP8},
        {"M": 256, "N": 256, "K": 512, **FP8}, 210, {"QGMMA.64x128x32": 4}, pass_configs={},
    ),
]  # fmt: skip


def build(row: Row, size: dict[str, Any]) -> Any:
    """The kernel by tilewright."""
    import tilewright
    from tilewright.compat import imports

    imports.install()
    os.environ.update(TILEWRIGHT_ARCH=ARCH, TILEWRIGHT_DEVICE=f"vgpu:{ARCH}")
    made = runpy.run_path(str(ROOT / row.script))[row.function](**size)
    if hasattr(made, "ptx"):
        return made
    return tilewright.compile(made, target=ARCH, pass_configs=row.pass_configs)


def shapes(names: list[str]) -> Counter[str]:
    """`HGMMA.64x256x16`: how often."""
    found = (re.match(r"[HQI]GMMA(\.\d+x\d+x\d+)?", name) for name in names)
    return Counter(match.group() for match in found if match)


def pick_loop(listing: Listing) -> list[str]:
    """The main loop: of the innermost ones with the products of a k-tile, the shortest. A loop with
    masks and one without are copies of one another, and most tiles run in the latter."""
    loops = [loop for loop in listing.innermost if shapes(loop)]
    most = max((sum(shapes(loop).values()) for loop in loops), default=0)
    return min((p for p in loops if sum(shapes(p).values()) == most), key=len, default=[])


def multiply_adds(loop: list[str]) -> int:
    """Of the products of warpgroups in a loop."""
    found = (re.match(r"[HQI]GMMA\.(\d+)x(\d+)x(\d+)", name) for name in loop)
    return sum(int(m[1]) * int(m[2]) * int(m[3]) for m in found if m)


# ---- TileLang's code of the same kernels ----


def requests(folder: Path) -> list[dict[str, Any]]:
    """For each row one at its size and one at the size that is run."""
    return [
        {"file": str(ROOT / row.script), "function": row.function, "arguments": size,
         "pass_configs": row.pass_configs, "ptx": str(folder / f"{number}-{kind}.ptx")}
        for number, row in enumerate(ROWS)
        for kind, size in (("full", row.size), ("run", row.run_size))
    ]  # fmt: skip


@dataclass(frozen=True)
class Peer:
    """TileLang's code of a row, at its size and at the size that is run."""

    full_ptx: str
    run_ptx: str
    launch: dict[str, Any]

    def show(
        self, row: Row, ours: list[str], tensors: dict[str, Any], executed: int
    ) -> Iterator[Figure]:
        """Its figures beside ours: our main loop, what our code left, what it executed."""
        cubin = assemble(self.full_ptx, ARCH)
        (usage,) = cubin.usage.values()
        if find_nvdisasm():
            loop = pick_loop(disassemble(cubin.data))
            tiles = max(1, round(multiply_adds(loop) / max(1, multiply_adds(ours))))
            note = f"  {dict(shapes(loop))}" + (f", {tiles} k-tiles" if tiles > 1 else "")
            yield Figure(f"{row.name}: TileLang's SASS of a k-tile", len(loop) / tiles, "",
                         note=note)  # fmt: skip
        yield Figure(f"{row.name}: TileLang's registers, spill bytes", usage.registers, "",
                     note=f"  {usage.spill_store_bytes}")  # fmt: skip
        kernel = build(row, row.run_size)
        theirs, peer_tensors = run_peer(kernel, self.launch, self.run_ptx)
        off = largest_difference(tensors, peer_tensors)
        yield Figure(f"{row.name}: executed, in this run", executed, "", "the bar",
                     theirs * row.executed,
                     note=f"  {executed / theirs:.2f} of TileLang's {theirs}, bar {row.executed}; "
                          f"results differ by {off:.1e}")  # fmt: skip


def ask_tilelang(python: str, folder: Path) -> list[Peer]:
    """TileLang's code of all rows."""
    answers = ask_peer(python, "tilelang_peer.py", ARCH, requests(folder))
    return [
        Peer((folder / f"{number}-full.ptx").read_text(),
             (folder / f"{number}-run.ptx").read_text(), answers[2 * number + 1])
        for number in range(len(ROWS))
    ]  # fmt: skip


# ---- Figures ----


def show_row(row: Row, beside: Peer | None) -> Iterator[Figure]:
    """The figures of one kernel against its bars."""

    def figure(what: str, value: float, bar: float | None = None, note: str = "") -> Figure:
        return Figure(f"{row.name}: {what}", value, "", "the bar" if bar else "", bar, note=note)

    kernel = build(row, row.size)
    cubin = assemble(kernel.ptx, ARCH)
    (usage,) = cubin.usage.values()
    (info,) = kernel.program.compile_gpu(ARCH)["kernels"]
    loop: list[str] = []
    if find_nvdisasm():
        loop = pick_loop(disassemble(cubin.data))
        found = shapes(loop)
        text = ", ".join(f"{count} x {shape}" for shape, count in found.items())
        yield figure("SASS of a k-tile", len(loop), row.loop)
        wanted, count = next(iter(row.products.items()))
        products = sum(n for shape, n in found.items() if shape.startswith(wanted))
        yield figure("products of a warpgroup", products, count, f"  {text}")
        plain = Counter(name.split(".")[0] for name in loop)
        others = [
            f"{plain[name]} {name}"
            for name in ("HMMA", "LDSM", "RED", "REDG", "BAR")
            if plain[name]
        ]
        yield figure("other slow instructions", len(others), note="  " + ", ".join(others))
    waits = [int(n) for n in re.findall(r"wgmma\.wait_group\.sync\.aligned (\d+);", kernel.ptx)]
    yield figure("products open at a wait", max(waits), note=f"  waits {waits}")
    yield figure("registers", usage.registers)
    yield figure("spill bytes", usage.spill_store_bytes)
    yield figure("shared bytes", info["shared_bytes"], row.shared_bytes)
    executed, tensors = run_ours(build(row, row.run_size))
    peer = row.executed_by_tilelang
    note = f"  {executed / peer:.2f} of TileLang's {peer}" if peer else ""
    yield figure("executed warp instructions", executed, peer and peer * row.executed, note)
    if beside:
        yield from beside.show(row, loop, tensors, executed)


def figures(python: str | None = None) -> Iterator[Figure]:
    """Those of all rows, beside TileLang's where a Python that has it is named."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        peers = ask_tilelang(python, Path(folder)) if python else [None] * len(ROWS)
    for row, beside in zip(ROWS, peers, strict=True):
        yield from show_row(row, beside)
