#!/usr/bin/env python3
"""Compares every #include with the picture of who may include whom.

A room (a folder of include/tilewright/ and lib/, or vgpu/) includes only itself and what lies below
it. PICTURE is that picture, arrow by arrow; a path of arrows is a permission too. Interp, PlanCheck
and vgpu are witnesses: no arrow leads from them to the code they judge, nor to each other. Rooms
without IR (Support, Target, Layout, vgpu) may not include MLIR either; see MLIR_HEADERS. Rt has no
LLVM at all.

vgpu is a house of its own: its folders are rooms too ("vgpu/Exec"), and who lives outside enters
through the headers right below vgpu/include/vgpu only.

    usage: scripts/check_includes.py [ROOT]      prints one line for each wrong include
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from faults import print_faults

# room -> the rooms right below it
PICTURE: dict[str, tuple[str, ...]] = {
    "tools": ("Driver", "TestPasses"),
    "bindings": ("Driver", "Frontend"),
    "Api": ("Driver",),
    "FakeCuda": ("vgpu",),
    "TestPasses": ("Transforms", "Codegen", "Interp", "PlanCheck"),
    "Driver": (
        "Runtime",
        "Frontend",
        "Threads",
        "Codegen",
        "Transforms",
        "Interp",
        "PlanCheck",
    ),
    "Runtime": ("vgpu", "Tile", "Layout", "Target", "Support", "Rt"),
    "Codegen": ("Access", "Rt"),
    "Transforms": ("Access",),
    "Access": ("Analysis",),
    "Analysis": ("Tile",),
    "Interp": ("Tile",),
    "PlanCheck": ("Tile",),
    "Frontend": ("Tile",),
    "Threads": ("Tile",),
    "Tile": ("Layout", "Target"),
    "Layout": ("Support",),
    "Rt": ("Target", "Support"),
    "Target": ("Support",),
    "Support": (),
    # The virtual GPU. Events are plain structs; the executor sends them, checks and counters
    # receive them, and neither side knows the other. All three know the machine: the program, its
    # blocks and warps, and the launch.
    "vgpu": ("vgpu/Exec", "vgpu/Checks", "vgpu/Counters"),
    "vgpu/Exec": ("vgpu/Machine",),
    "vgpu/Checks": ("vgpu/Machine",),
    "vgpu/Counters": ("vgpu/Machine",),
    "vgpu/Machine": ("vgpu/Events",),
    "vgpu/Events": ("vgpu/Memory",),
    "vgpu/Memory": ("vgpu/Ptx",),
    "vgpu/Ptx": (),
}

# The rooms that may not include all of MLIR, and the MLIR headers they may include.
MLIR_HEADERS: dict[str, tuple[str, ...]] = {
    "Rt": (),
    "Support": (),
    "Target": (),
    "Layout": ("mlir/Analysis/Presburger/", "mlir/Support/"),
    "vgpu": (),
}

# The rooms of libtilewright_rt, which has no LLVM. (What they include of other rooms has none too:
# the library is compiled without LLVM's headers.)
WITHOUT_LLVM = ("Rt",)

# Where a room's files lie: a pattern and the room's name, in which {} stands for what the pattern
# captured. The first match counts. Unit tests and
# fuzz targets (test/unit, test/fuzz, vgpu/test) compare rooms with each other and may include any.
FOLDERS: tuple[tuple[str, str], ...] = (
    (r"include/tilewright/(\w+)/", "{}"),
    (r"lib/(\w+)/", "{}"),
    (r"vgpu/(?:include/vgpu|lib)/(\w+)/", "vgpu/{}"),
    (r"vgpu/(?!test/)", "vgpu"),
    (r"python/bindings/", "bindings"),
    (r"tools/", "tools"),
    (r"test/lib/FakeCuda/", "FakeCuda"),
    (r"test/lib/", "TestPasses"),
)

SUFFIXES = {".h", ".cpp", ".td", ".inc"}
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]')


def room_of_file(path: str) -> str | None:
    """The room of the file at `path` (relative to the root); None where no rule holds."""
    for pattern, room in FOLDERS:
        if match := re.match(pattern, path):
            return room.format(*match.groups())
    return None


def room_of_header(header: str) -> str | None:
    """The room that `#include "header"` reaches; None for a header that is not ours."""
    if match := re.match(r"vgpu/(?:(\w+)/)?", header):
        return f"vgpu/{match[1]}" if match[1] else "vgpu"
    match = re.match(r"tilewright/(\w+)/", header)
    return match[1] if match else None


def house_of(room: str) -> str:
    """The room itself, or the project that it is a folder of."""
    return room.split("/")[0]


def rooms_below(room: str, picture: Mapping[str, tuple[str, ...]]) -> set[str]:
    """All rooms that a path of arrows from `room` reaches."""
    reached: set[str] = set()
    pending = list(picture[room])
    while pending:
        if (below := pending.pop()) not in reached:
            reached.add(below)
            pending += picture[below]
    return reached


def include_fault(path: str, header: str) -> str | None:
    """What is wrong with `#include "header"` in the file at `path`, or None."""
    room = room_of_file(path)
    if room is None:
        return None
    if room not in PICTURE:
        return (
            f"room '{room}' is not in the picture; add it to PICTURE in scripts/check_includes.py"
        )
    if header.startswith("../") or "/../" in header:
        return f"include of '{header}' climbs out of its folder; name the header by its room"
    if header.startswith("llvm/") and room in WITHOUT_LLVM:
        return f"{room} may not include '{header}': exported libraries have no LLVM"
    if header.startswith("mlir/"):
        allowed = MLIR_HEADERS.get(house_of(room))
        if allowed is not None and not header.startswith(allowed):
            return f"{room} may not include '{header}': the room has no IR"
        return None
    target = room_of_header(header)
    if target is None or target == room:
        return None
    if house_of(target) == "vgpu" != target and house_of(room) != "vgpu":
        return f"{room} may not include '{header}': it enters vgpu through 'vgpu/Vgpu.h'"
    below = rooms_below(room, PICTURE)
    if target not in below:
        names = ", ".join(sorted(below)) or "no other room"
        return f"{room} may not include '{header}': below {room} lie {names}"
    return None


def includes_of(text: str) -> Iterator[tuple[int, str]]:
    """The (line number, header) of each include directive of C++ or TableGen text."""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := INCLUDE.match(line):
            yield number, match[1]


def faults_below(root: Path) -> list[str]:
    """One message for each wrong include of the files below `root`, in path order."""
    faults = []
    for folder in ("include", "lib", "vgpu", "python", "tools", "test"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            for number, header in includes_of(file.read_text(encoding="utf-8")):
                if fault := include_fault(path, header):
                    faults.append(f"{path}:{number}: error: {fault}")
    return faults


if __name__ == "__main__":
    sys.exit(print_faults(faults_below))
