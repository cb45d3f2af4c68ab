"""The ops of the tile dialect and the passes, as mlir-tblgen writes them from .td files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LLVM = Path(os.environ.get("LLVM_PREFIX") or "/usr/lib/llvm-22")

#: Which .td files are documented, by their names, and how.
GENERATORS = {
    "*Ops.td": ("-gen-dialect-doc", "-dialect={room}"),
    "*Passes.td": ("-gen-pass-doc",),
}


def records(pattern: str) -> list[Path]:
    """The .td files with such a name."""
    return sorted((ROOT / "include" / "tilewright").rglob(pattern))


def describe(record: Path, options: tuple[str, ...]) -> str:
    """What mlir-tblgen writes about a file, with headings below the second level."""
    room = record.parent.name
    command = [LLVM / "bin" / "mlir-tblgen", record]
    command += [option.format(room=room.lower()) for option in options]
    command += [f"-I{ROOT / 'include'}", f"-I{LLVM / 'include'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"build_docs: error: mlir-tblgen refuses '{record}'\n{done.stderr}")
    text = re.sub(r"\[TOC\]|<!--.*?-->", "", done.stdout, flags=re.DOTALL)
    lines, in_code = [], False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        heading = re.match(r"#+ ", line)
        if heading and not in_code:
            level = min(max(len(heading[0]), 3), 4)
            line = "#" * level + " " + line[heading.end() :]
        lines.append(line.rstrip())
    return "\n".join(lines)


def _page(pattern: str) -> str:
    parts = []
    for record in records(pattern):
        name = record.parent.name if record.stem == "Passes" else record.stem
        parts.append(f"## {name}\n\n{describe(record, GENERATORS[pattern])}\n")
    return "\n".join(parts)


def page(_out: Path) -> str:
    """The ops, attributes and types of the dialects."""
    return _page("*Ops.td")


def passes_page(_out: Path) -> str:
    """The passes, room by room."""
    return _page("*Passes.td")
