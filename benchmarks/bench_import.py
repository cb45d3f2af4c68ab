"""What `import tilewright` costs, against `import tilelang` where that is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from figures import Figure, child_seconds, median_seconds


def run_seconds(script: str) -> float | None:
    """The processor time of a fresh interpreter that runs `script`; None if it fails."""
    command = [sys.executable, "-c", script]
    if subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode:
        return None
    return median_seconds(lambda: subprocess.run(command, check=True), 7, clock=child_seconds)


def import_seconds(module: str) -> float | None:
    """What an import costs beyond the start of the interpreter; None if there is no such module."""
    seconds = run_seconds(f"import {module}")
    return None if seconds is None else max(seconds - (run_seconds("") or 0), 1e-4)


def imports_torch() -> bool:
    """Whether tilewright pulls torch in, which would cost seconds."""
    script = "import sys, tilewright, tilewright.language; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return done.stdout.strip() == "True"


def figures() -> Iterator[Figure]:
    tilelang = import_seconds("tilelang")
    note = "" if tilelang else "tilelang is not installed here"
    if imports_torch():
        note += " (torch is imported!)"
    for module in ("tilewright", "tilewright.language"):
        seconds = import_seconds(module)
        yield Figure(f"import {module}", seconds, "s", "tilelang", tilelang, note=note)
