"""What an earlier page says about a code base that was not run again."""

from __future__ import annotations

import re
from pathlib import Path


class OldPage:
    """The parts of a page by code base: its row, what became of its GPU code, and its section."""

    def __init__(self, file: Path) -> None:
        self._text = file.read_text() if file.exists() else ""

    def row(self, title: str) -> str | None:
        """The line in the table of code bases, unless it says that nothing was run."""
        return self._line(rf"\| {re.escape(title)} \|(?! not run).*")

    def tests_run(self, title: str) -> int:
        """How many tests the row is about."""
        found = re.search(r"^\|[^|]*\|[^|]*\| (\d+)", self.row(title) or "")
        return int(found[1]) if found else 0

    def gpu_rows(self, name: str) -> list[str]:
        """The lines of the table of GPU code."""
        pattern = rf"^\| {re.escape(name)} \| (?:sm_\w+|any) \|.*\n"
        return re.findall(pattern, self._text, re.M)

    def times(self, name: str) -> list[tuple[float, str, str, str, str]]:
        """The lines of the tables of compile times: seconds, for what, kernel, code base, case."""
        pattern = rf"^\| ([\d.]+) \| (\w+) \| `([^`]*)` \| {re.escape(name)}: `(.*)` \|$"
        found = re.findall(pattern, self._text, re.M)
        return [(float(s), arch, kernel, name, case) for s, arch, kernel, case in found]

    def section(self, name: str) -> str:
        """What failed in it, and what was not counted."""
        found = re.search(rf"^### {re.escape(name)}\n.*?(?=^##)", self._text, re.M | re.S)
        return found[0] if found else ""

    def part(self, heading: str) -> str:
        """What stands under a heading, with it."""
        found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^##)", self._text, re.M | re.S)
        return found[0] if found else ""

    def _line(self, pattern: str) -> str | None:
        found = re.search(f"^{pattern}\n", self._text, re.M)
        return found[0] if found else None
