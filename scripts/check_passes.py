#!/usr/bin/env python3
"""Compares every registered pass with what its reader and its tests need.

A pass is a record of a Passes.td. It has a summary, a description with an example in tile IR, and a
lit test that runs it by name; and Driver/Pipeline.cpp builds it, so that the list of the compiler's
passes there is complete. The walkthrough (docs/internals/walkthrough.md), which documents the
pipelines, names it. Passes of the room Driver run whole pipelines and are part of none.

There is no way around that: a pass without a record, and a pass manager elsewhere than in
Driver/Pipeline.cpp, are faults, too.

    usage: scripts/check_passes.py [ROOT]      prints one line for each thing that is missing
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from faults import print_faults

RECORD = re.compile(r'^def (\w+) : Pass<"([\w-]+)".*?^}', re.DOTALL | re.MULTILINE)
WRAPPER = re.compile(r"\bPassWrapper<(\w+)")
MANAGER = re.compile(r"(?<![\w:])PassManager \w+[({]")
PIPELINE = "lib/Driver/Pipeline.cpp"
PIPELINES_PAGE = "docs/internals/walkthrough.md"
DESCRIPTION = re.compile(r"let description = \[\{(.*?)\}\];", re.DOTALL)


def faults_of(record: re.Match[str], tests: str, pipeline: str | None) -> Iterator[str]:
    """What the pass of `record` lacks; no `pipeline`: it belongs in none."""
    name, argument = record[1], record[2]
    description = DESCRIPTION.search(record[0])
    if "let summary" not in record[0]:
        yield "has no summary"
    if description is None:
        yield "has no description"
    elif "```mlir" not in description[1]:
        yield "has no example in its description"
    if not re.search(rf"-{argument}\b(?!-)", tests):
        yield f"is run by no lit test (expected '-{argument}' below test/lit)"
    if pipeline is not None and f"create{name}(" not in pipeline:
        yield "is not in Driver/Pipeline.cpp"


def hidden(root: Path) -> Iterator[str]:
    """The passes without a record, and the lists of passes beside the one of the driver."""
    for file in sorted((root / "lib").rglob("*.cpp")):
        name, text = str(file.relative_to(root)), file.read_text()
        for wrapper in WRAPPER.findall(text):
            yield f"{name}: {wrapper} has no record in a Passes.td"
        if name != PIPELINE and MANAGER.search(text):
            yield f"{name} runs passes that {PIPELINE} does not list"


def undocumented(root: Path, argument: str) -> Iterator[str]:
    """The fault of a pass that the page of the pipelines does not name."""
    if f"`{argument}`" not in (root / PIPELINES_PAGE).read_text():
        yield f"is not in {PIPELINES_PAGE}"


def faults_below(root: Path) -> list[str]:
    """All faults of the passes of a checkout, in the order of files and records."""
    tests = "\n".join(path.read_text() for path in sorted((root / "test/lit").rglob("*.mlir")))
    pipeline = (root / PIPELINE).read_text()
    faults = []
    for file in sorted((root / "include").rglob("Passes.td")):
        for record in RECORD.finditer(file.read_text()):
            where = f"{file.relative_to(root)}: {record[2]}"
            listed = None if file.parent.name == "Driver" else pipeline
            faults += [f"{where} {fault}" for fault in faults_of(record, tests, listed)]
            faults += [f"{where} {fault}" for fault in undocumented(root, record[2])]
    return [*faults, *hidden(root)]


if __name__ == "__main__":
    sys.exit(print_faults(faults_below))
