#!/usr/bin/env python3
"""Prints the figures of the project, each against something: a budget of the design, another tool,
or plain Python. Nothing is asserted: a busy machine must not fail a build.

usage: benchmarks/run_benchmarks.py [--json FILE] [--arch ARCH] [NAME...]

benchmarks/run_benchmarks.py               all of them
benchmarks/run_benchmarks.py import        those of bench_import.py
benchmarks/run_benchmarks.py static --arch sm_90a

A benchmark is a function `figures()` in a file `bench_<name>.py` of this folder that yields Figures
(see figures.py); files of later parts of the compiler are found by their names.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from figures import Figure  # noqa: E402


def benchmark_names() -> list[str]:
    """The names of all benchmarks, in order."""
    return sorted(file.stem.removeprefix("bench_") for file in FOLDER.glob("bench_*.py"))


def run(name: str, arch: str | None) -> Iterator[Figure]:
    """The figures of one benchmark; one that cannot run says why and the others go on."""
    try:
        benchmark = importlib.import_module(f"bench_{name}")
        if arch and hasattr(benchmark, "ARCH"):
            benchmark.ARCH = arch
        yield from benchmark.figures()
    except Exception as error:  # a figure less, with its reason
        traceback.print_exc()
        yield Figure(name, None, "", note=f"failed: {type(error).__name__}: {error}")


def show(figure: Figure) -> str:
    """One line: what, how much, and how it compares."""
    value = "-" if figure.value is None else f"{figure.value:.4g} {figure.unit}"
    against = ""
    if figure.ratio is not None:
        baseline = f"{figure.baseline:.4g} {figure.unit}"
        against = f"{figure.ratio:6.2f} x as good as {figure.against} ({baseline})"
    return f"{figure.name:52} {value:>16}   {against}{figure.note}".rstrip()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = benchmark_names()
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--arch", help="what static and compile compile for; default: sm_80")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in known]:
        parser.error(f"unknown benchmark '{unknown[0]}'; known: {', '.join(known)}")

    load = os.getloadavg()[0]
    python = platform.python_version()
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {python}")
    if load > 1:
        print("the machine is busy: times are larger than they need to be")
    figures = []
    for name in arguments.names or known:
        for figure in run(name, arguments.arch):
            figures.append(figure)
            print(show(figure), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
