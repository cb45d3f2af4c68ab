"""A chapter of the tutorial as a page: a Python file in cells, run from top to bottom.

    # %% [markdown]
    # Prose, in Markdown.
    # %%
    print(1 + 1)

Each cell of code is followed by what it printed. The file also runs as it stands.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MARK = re.compile(r"^# %%(.*)$")


class Cell(NamedTuple):
    """A part of a chapter; `line` is that of its first line in the file, from 1."""

    is_code: bool
    line: int
    text: str


def cells(source: str) -> Iterator[Cell]:
    """The cells of a file; what stands before the first one is not shown."""
    kind: bool | None = None
    start, lines = 0, []
    for number, line in enumerate([*source.splitlines(), "# %%"], start=1):
        mark = _MARK.match(line)
        if mark is None:
            lines.append(line)
            continue
        if kind is not None:
            yield _cell(kind, start, lines)
        kind, start, lines = "[markdown]" not in mark[1], number + 1, []


def _cell(is_code: bool, line: int, lines: list[str]) -> Cell:
    if not is_code:
        lines = [re.sub(r"^# ?", "", text) for text in lines]
    return Cell(is_code, line, "\n".join(lines).strip("\n"))


def run(file: Path, folder: Path) -> Iterator[tuple[Cell, str]]:
    """Each cell, and what it printed; files that the chapter writes go to `folder`."""
    source = file.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__", "__file__": str(file)}
    for cell in cells(source):
        output = io.StringIO()
        if cell.is_code:
            # Empty lines before it, so that messages name the line of the file.
            code = compile("\n" * (cell.line - 1) + cell.text + "\n", str(file), "exec")
            with contextlib.chdir(folder), contextlib.redirect_stdout(output):
                exec(code, namespace)
        yield cell, output.getvalue()


def page(file: Path, out: Path) -> str:
    """The chapter as Markdown; its pictures are written next to the page."""
    folder = out / "tutorial"
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for cell, output in run(file, folder):
        if not cell.is_code:
            parts.append(cell.text)
        elif cell.text:
            parts.append(f"```python\n{cell.text}\n```")
        if output.strip():
            text = re.sub(rf"{re.escape(os.fspath(file.parent))}/", "", output.rstrip())
            parts.append(f"```text\n{text}\n```")
    parts.append(f"*This chapter is the program `docs/tutorial/{file.name}`.*")
    return "\n\n".join(parts) + "\n"
