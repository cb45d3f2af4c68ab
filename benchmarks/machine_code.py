"""What a cubin says of a kernel: its instructions, its main loop, its warps on a processor.

Instructions are read by `nvdisasm`: that of NVDISASM, on PATH, in Triton's wheel, or where the
compiler finds it (PyPI's nvidia-cuda-nvdisasm).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

#: Of a streaming multiprocessor of sm_80 (CUDA programming guide, "Technical Specifications").
REGISTERS, REGISTER_UNIT = 65536, 256  # allocated for a whole warp
WARPS, BLOCKS = 64, 32
SHARED_BYTES, SHARED_UNIT, SHARED_RESERVED = 164 * 1024, 128, 1024  # reserved: of each block


@cache
def find_nvdisasm() -> Path | None:
    """The disassembler, or None where none is installed."""
    if named := os.environ.get("NVDISASM") or shutil.which("nvdisasm"):
        return Path(named)
    triton = importlib.util.find_spec("triton")
    if triton and triton.origin:
        wheel = Path(triton.origin).parent / "backends" / "nvidia" / "bin" / "nvdisasm"
        if wheel.is_file():
            return wheel
    from tilewright.ptxas import find_nvdisasm as find_installed

    return find_installed()


def warps_per_processor(threads: int, registers: int, shared_bytes: int) -> int:
    """The warps of such blocks that an sm_80 multiprocessor holds at a time (of 64)."""

    def units(amount: int, unit: int) -> int:
        return -(-amount // unit) * unit

    warps = -(-threads // 32)
    # A warp's registers come in whole units, warps in fours (one of each scheduler).
    by_registers = REGISTERS // units(registers * 32, REGISTER_UNIT) // 4 * 4 // warps
    by_shared = SHARED_BYTES // units(shared_bytes + SHARED_RESERVED, SHARED_UNIT)
    return warps * min(by_registers, by_shared, WARPS // warps, BLOCKS)


@dataclass(frozen=True)
class Listing:
    """The instructions of a kernel, by name, and those of its main loop."""

    names: list[str]
    main_loop: list[str]
    #: Every loop, with modifiers: `HGMMA.64x256x16.F32`.
    loops: list[list[str]] = field(default_factory=list)
    #: Those of them that contain no other one.
    innermost: list[list[str]] = field(default_factory=list)

    def count(self, name: str) -> int:
        """How often an instruction occurs in the code."""
        return Counter(self.names)[name]


def read_listing(text: str) -> Listing:
    """Reads `nvdisasm -c`.

    The main loop is what lies between a back edge and its target; of several, the longest one with
    a tensor-core operation in it. The loop of one instruction after the code is padding.
    """
    names: list[str] = []
    full: list[str] = []
    labels: dict[str, int] = {}
    back_edges: list[tuple[int, int]] = []
    for line in text.splitlines():
        if label := re.match(r"\s*(\.L_\w+):", line):
            labels[label.group(1)] = len(names)
            continue
        found = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)(.*)", line)
        if not found:
            continue
        target = re.search(r"`\((\.L_\w+)\)", found.group(2))
        if found.group(1) == "BRA" and target and target.group(1) in labels:
            back_edges.append((labels[target.group(1)], len(names) + 1))
        names.append(found.group(1))
        full.append(found.group(1) + found.group(2).split(" ")[0])
    products = {"HMMA", "HGMMA", "QGMMA", "IGMMA"}
    loops = [names[start:end] for start, end in back_edges if products & set(names[start:end])]
    # A wait that has to be repeated jumps back from behind the end: no loop.
    every = [(a, b) for a, b in back_edges if "EXIT" not in names[a:b]]
    inner = [
        (a, b) for a, b in every
        if not any(a <= c and d <= b and products & set(names[c:d]) for c, d in {*every} - {(a, b)})
    ]  # fmt: skip
    return Listing(names, max(loops, key=len, default=[]),
                   [full[a:b] for a, b in every], [full[a:b] for a, b in inner])  # fmt: skip


def disassemble(cubin: bytes) -> Listing:
    """The instructions of a cubin with one kernel."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(find_nvdisasm()), "-c", file.name]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
    return read_listing(run.stdout)
