"""CONTRIBUTING lists the rooms and packages that exist, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import check_includes

ROOT = Path(check_includes.__file__).resolve().parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()

#: What the picture of includes has besides rooms: programs, bindings and test code.
PROGRAMS = {"tools", "bindings", "FakeCuda", "TestPasses"}


def folders_of(path: str) -> set[str]:
    return {folder.name for folder in (ROOT / path).iterdir() if folder.is_dir()}


def listed(first_column: str) -> set[str]:
    """The names in the first column of the table with that heading."""
    table = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    assert table
    cells = [row.split("|")[1] for row in table[1].splitlines()]
    return {name.strip(" `/") for cell in cells for name in cell.split(",")}


def test_the_rooms_of_the_table_are_those_of_the_tree() -> None:
    rooms = folders_of("include/tilewright") | folders_of("lib") | {"vgpu"}
    assert listed("Room") == rooms


def test_the_rooms_of_the_picture_are_those_of_the_table() -> None:
    rooms = {room for room in check_includes.PICTURE if not room.startswith("vgpu")} - PROGRAMS
    assert rooms | {"vgpu"} == listed("Room")


def test_the_folders_of_passes_are_named() -> None:
    (row,) = re.findall(r"^\| Transforms \|(.*)\|$", TEXT, re.MULTILINE)
    assert {name.strip("/") for name in re.findall(r"`(\w+/)`", row)} == folders_of(
        "lib/Transforms"
    )


def test_the_packages_of_the_table_are_those_of_the_tree() -> None:
    packages = folders_of("python/tilewright") - {"__pycache__"}
    assert listed("Package") == packages
