#!/usr/bin/env python3
"""Checks a wheel: what its shared objects export and need, its size, and the files beside it.

    usage: scripts/check_wheel.py WHEEL...      prints one line for each fault

It needs pyelftools; abi3audit and auditwheel check what they know better (scripts/build_wheels.py).
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

LARGEST_BYTES = 25_000_000
OLDEST_GLIBC = (2, 34)  # manylinux_2_34
#: What the extension module and the runtime of exported libraries offer.
EXPORTS = re.compile(r"PyInit__tilewright_core"), re.compile(r"tw_\w+")
RUNTIME = "tilewright/cpp/lib/libtilewright_rt.so"
NEEDED = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
#: Symbols without a version are Python's, or ones that may be absent (weak).
PYTHON = re.compile(r"_?Py[A-Z_]")
FILES = (
    "tilewright/py.typed",
    "tilewright/_tilewright_core.pyi",
    "tilewright/support/commit.py",
    "tilewright/cpp/include/tilewright/runtime.h",
    "tilewright/cpp/lib/cmake/Tilewright/TilewrightConfig.cmake",
    "tilewright/cpp/lib/libtilewright_rt.a",
    f"{RUNTIME}.0",
)
COMMANDS = {"tw", "tw-opt", "tw-vgpu"}


def faults_of(wheel: Path) -> Iterator[str]:
    """One sentence for each fault of the wheel."""
    size = wheel.stat().st_size
    if size > LARGEST_BYTES:
        yield f"expected at most {LARGEST_BYTES} bytes, got {size}"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        yield from _file_faults(archive, names)
        objects = [name for name in names if re.search(r"\.so(\.|$)", name)]
        modules = [name for name in objects if not name.startswith(RUNTIME)]
        if len(modules) != 1:
            yield f"expected one extension module, got {', '.join(modules) or 'none'}"
        for name in objects:
            yield from _object_faults(archive.read(name), EXPORTS[name not in modules])


def _file_faults(archive: zipfile.ZipFile, names: list[str]) -> Iterator[str]:
    for file in FILES:
        if file not in names:
            yield f"'{file}' is missing"
    for ending in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        if not any(name.endswith(f".dist-info/{ending}") for name in names):
            yield f"'{ending}' is missing"
            return
    metadata = _read(archive, names, "METADATA")
    if "License-Expression: Apache-2.0" not in metadata:
        yield "the metadata do not name the licence"
    if "\n# Tilewright\n" not in metadata:
        yield "the metadata do not contain the README"
    commands = set(re.findall(r"^([\w-]+) *=", _read(archive, names, "entry_points.txt"), re.M))
    if commands != COMMANDS:
        yield f"expected the commands {sorted(COMMANDS)}, got {sorted(commands)}"
    if FILES[2] in names and not re.search(r'COMMIT = "\w', archive.read(FILES[2]).decode()):
        yield "the wheel does not name its commit"


def _read(archive: zipfile.ZipFile, names: list[str], ending: str) -> str:
    (name,) = (name for name in names if name.endswith(f".dist-info/{ending}"))
    return archive.read(name).decode()


def _object_faults(content: bytes, exported: re.Pattern[str]) -> Iterator[str]:
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(BytesIO(content))
    needed = {tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
    if needed - NEEDED:
        yield f"needs other libraries: {', '.join(sorted(needed - NEEDED))}"
    symbols = elf.get_section_by_name(".dynsym")
    numbers = elf.get_section_by_name(".gnu.version")
    versions = _versions(elf.get_section_by_name(".gnu.version_r"))
    exports = set()
    for index, symbol in enumerate(symbols.iter_symbols()):
        if not symbol.name:
            continue
        if symbol["st_shndx"] != "SHN_UNDEF":
            exports.add(symbol.name)
            continue
        version = versions.get(numbers.get_symbol(index)["ndx"])
        weak = symbol["st_info"]["bind"] == "STB_WEAK"
        if fault := undefined_fault(symbol.name, version, weak):
            yield fault
    others = sorted(name for name in exports if not exported.fullmatch(name))
    if others or not exports:
        yield f"expected exports like '{exported.pattern}', got {others[:5]} ({len(others)})"


def _versions(section) -> dict[int, str]:
    """The version that each number stands for of the version table."""
    return {
        entry["vna_other"]: entry.name
        for _, entries in section.iter_versions()
        for entry in entries
    }


def undefined_fault(name: str, version: str | None, weak: bool) -> str | None:
    """What is wrong with a symbol that others must define, or None."""
    if version is None:
        return (
            None
            if weak or PYTHON.match(name)
            else f"'{name}' is defined by no library that the wheel may need"
        )
    if found := re.fullmatch(r"GLIBC_([\d.]+)", version):
        if tuple(int(part) for part in found[1].split(".")) > OLDEST_GLIBC:
            return f"'{name}' needs {version}"
        return None
    return None if version.startswith("GCC_") else f"'{name}' needs {version}"


def main() -> int:
    faults = [f"{file}: error: {fault}" for file in sys.argv[1:] for fault in faults_of(Path(file))]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
