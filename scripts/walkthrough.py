#!/usr/bin/env python3
"""Fills the excerpts of docs/internals/walkthrough.md by compiling the seed kernel.

    usage: scripts/walkthrough.py             rewrites the excerpts in place
           scripts/walkthrough.py --check     fails if the page is not what would be written

The prose of the page is written by hand, a section for each pass and stage (`### `name``). This
script takes the list of passes from the compiler, compiles the seed kernel with dumps, and replaces
what follows each marker, up to the end of the fenced block:

    <!-- passes: gpu -->                 a table of a pipeline, with the summaries of Passes.td
    <!-- change: PASS [REGEX] -->        what the pass changed, at the first line that REGEX matches
    <!-- excerpt: STAGE [REGEX] -->      lines of the program at a stage, from the first match on

A pass without a section, and a section without a pass, are errors.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "internals" / "walkthrough.md"
ARCH = "sm_80"

#: The same code on every machine, with the optional pass that checks plans.
SETTINGS = {
    "TILEWRIGHT_CHECK_PLANS": "1",
    "TILEWRIGHT_CPU": "avx2",
    "TILEWRIGHT_LIBCUDA": "none",
}

#: Stages after the passes, in order; each has a section too.
GPU_STAGES = ("threads", "llvm", "ptx")
CPU_STAGES = ("host", "asm")

_COLUMNS = 100
_LINES = 7  # of the program
_ROWS = 10  # of the page, about: long lines take several

SECTION = re.compile(r"^### .*?`([\w-]+)`", re.MULTILINE)
MARKER = re.compile(
    r"^<!-- (?P<kind>passes|change|excerpt): (?P<name>[\w-]+)(?: (?P<focus>(?!-->)[^\n]+?))? -->\n"
    r"(?:\n?(?:```[a-z]*\n.*?^```\n|\|.*?\n(?!\|)|\*[^\n]*\*\n))?",
    re.MULTILINE | re.DOTALL,
)


class Kernel:
    """The seed kernel at a small size, before and after each pass."""

    def __init__(self) -> None:
        os.environ |= SETTINGS
        sys.path.insert(0, str(ROOT / "examples" / "seed"))
        import run_seed
        from tilewright._core import core
        from tilewright.compat import imports

        imports.install()
        self._kernel = run_seed.load_kernel(run_seed.SMALL[0], "cpu")
        self.passes: dict[str, list[str]] = core.pass_names()

    @cache  # noqa: B019 - there is one kernel, which lives as long as the script
    def at(self, name: str) -> list[str]:
        """The program at a stage, or after a pass."""
        return cleaned(str(self._kernel.ir(name, arch=ARCH)))

    def before(self, name: str) -> list[str]:
        """The program that a pass gets."""
        names = next(names for names in self.passes.values() if name in names)
        position = names.index(name)
        return self.at(names[position - 1] if position else "tile")


def summaries() -> dict[str, str]:
    """The summary of each pass, from the records of all rooms."""
    found = {}
    for file in sorted((ROOT / "include").rglob("Passes.td")):
        record = re.compile(r'^def \w+ : Pass<"([\w-]+)".*?summary = "(.*?)";', re.S | re.M)
        found |= dict(record.findall(file.read_text(encoding="utf-8")))
    return found


def cleaned(text: str) -> list[str]:
    """The lines of a program without source locations, with short types and short lists."""
    text = re.sub(r" /\S+\.py:\d+:\d+", "", text)
    text = re.sub(r"memref<(\S+?), #tile\.space<(\w+)>>", r"\2<\1>", text)
    text = re.sub(r"^( *(?:%\S+ = )?tile\.(?!alloc).*?) : [^{}\n]*$", r"\1", text, flags=re.M)
    text = re.sub(r", !dbg !\d+|(?<=\S) (?= )", "", text)
    text = re.sub(r"\[(\d+(?:, \d+){2}), (?:\d+, ){2,}(\d+)\]", r"[\1, …, \2]", text)
    return [line.rstrip() for line in text.splitlines() if not line.startswith("#loc")]


def shape_of(line: str) -> str:
    """A line without the names of values, which change their numbers from pass to pass."""
    return re.sub(r"%\w+", "%", line)


def wrapped(line: str, mark: str = "") -> list[str]:
    """A line in at most `_COLUMNS` columns, continued with an indent."""
    indent = " " * (len(line) - len(line.lstrip()) + 6)
    lines = []
    while len(mark + line) > _COLUMNS:
        cut = line.rfind(" ", len(indent) + 1, _COLUMNS - len(mark))
        if cut < 0:
            break
        lines.append(mark + line[:cut])
        line = indent + line[cut + 1 :]
    return [*lines, mark + line]


def fenced(language: str, lines: list[tuple[str, str]]) -> str:
    """A code block of (mark, line) pairs, moved to the left margin."""
    margin = min(len(line) - len(line.lstrip()) for _, line in lines if line.strip())
    body: list[str] = []
    for mark, line in lines:
        body += wrapped(line[margin:], mark) if len(body) < _ROWS else []
    return "\n".join([f"```{language}", *body, "```\n"])


def start_of(lines: list[str], focus: str | None) -> int | None:
    """The first line that `focus` matches; the first of all without one."""
    if focus is None:
        return 0 if lines else None
    return next((at for at, line in enumerate(lines) if re.search(focus, line)), None)


def change(before: list[str], after: list[str], focus: str | None) -> str:
    """What became of a program, at its first change that matters."""
    old, new = [shape_of(line) for line in before], [shape_of(line) for line in after]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    hunks = [code[1:] for code in matcher.get_opcodes() if code[0] != "equal"]
    if not hunks:
        return "*The seed kernel passes unchanged.*\n"
    for a, b, c, d in hunks:
        removed, added = before[a:b], after[c:d]
        at = start_of(added, focus)
        if at is None:
            at = start_of(removed, focus)
        if at is None:
            continue
        is_small = len(removed) + len(added) < 4
        at = 0 if is_small else at
        removed, added = removed[at : at + 3], added[at : at + _LINES]
        above, below = (before[a - 2 : a], before[b : b + 2]) if is_small else ([], [])
        marks = [("  ", above), ("- ", removed), ("+ ", added), ("  ", below)]
        return fenced("diff", [(mark, line) for mark, lines in marks for line in lines])
    raise SystemExit(f"walkthrough: error: no change matches '{focus}'; choose another one")


def excerpt(lines: list[str], focus: str | None, language: str) -> str:
    """Lines of a program from the first match on."""
    at = start_of(lines, focus)
    if at is None:
        raise SystemExit(f"walkthrough: error: no line matches '{focus}'; choose another one")
    return fenced(language, [("", line) for line in lines[at : at + _LINES]])


def table(names: list[str]) -> str:
    """The passes of a pipeline, in order."""
    known = summaries()
    rows = [f"| [`{name}`](#{name}) | {known[name]} |" for name in names]
    return "\n".join(["| pass | what it does |", "|---|---|", *rows]) + "\n"


def filled(marker: re.Match[str], kernel: Kernel) -> str:
    """A marker with the text that belongs after it."""
    name, focus = marker["name"], marker["focus"]
    if marker["kind"] == "passes":
        text = table(kernel.passes[name])
    elif marker["kind"] == "change":
        text = change(kernel.before(name), kernel.at(name), focus)
    else:
        language = {"llvm": "llvm", "ptx": "text", "asm": "text"}.get(name, "mlir")
        text = excerpt(kernel.at(name), focus, language)
    return f"{marker[0].splitlines()[0]}\n\n{text}"


def missing(page: str, passes: dict[str, list[str]]) -> list[str]:
    """What is wrong with the sections of the page."""
    sections = SECTION.findall(page)
    wanted = [name for names in passes.values() for name in names]
    wanted = list(dict.fromkeys(["tile", *wanted, *GPU_STAGES, *CPU_STAGES]))
    where = PAGE.relative_to(ROOT)
    absent = [name for name in wanted if name not in sections]
    stale = [name for name in sections if name not in wanted]
    return [
        *(f"{where}: error: '{name}' has no section '### `{name}`'" for name in absent),
        *(f"{where}: error: section '{name}' names no pass and no stage" for name in stale),
    ]


def rewritten(page: str, kernel: Kernel) -> str:
    """The page with fresh excerpts."""
    return MARKER.sub(lambda marker: filled(marker, kernel), page)


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    kernel = Kernel()
    if faults := missing(page, kernel.passes):
        print("\n".join(faults))
        return 1
    fresh = rewritten(page, kernel)
    if "--check" not in arguments:
        PAGE.write_text(fresh, encoding="utf-8")
    elif fresh != page:
        print(*difflib.unified_diff(page.splitlines(), fresh.splitlines(), lineterm=""), sep="\n")
        print(f"{PAGE.relative_to(ROOT)}: error: out of date; run scripts/walkthrough.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
