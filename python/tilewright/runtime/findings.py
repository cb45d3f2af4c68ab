"""How findings of the interpreter and of the virtual GPU are shown.

A finding is a dict, in one form for all engines (Driver/Findings.h): severity ("error" ends the
run, "finding" is a defect, "note" is worth knowing), kind, message, file, line, column, count,
buffer, index, block, thread, other, details, text. There is one for each line, kind and buffer,
with a count and one example; what the virtual GPU says about instructions is in "details".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright.support.errors import Location, Note, TilewrightError, render, widen

#: How many findings the text of an error shows.
_MOST_SHOWN = 10


class FindingsError(TilewrightError):
    """The checks found defects while a kernel ran. `findings` has all; the results are written."""

    __module__ = "tilewright.findings"  # where users find it

    def __init__(self, findings: Sequence[dict[str, Any]], fallback: Location | None) -> None:
        first = findings[0]
        super().__init__(headline(first), location_of(first) or fallback, notes_of(first))
        self.findings = list(findings)
        shown = [render_finding(finding, fallback) for finding in self.findings[:_MOST_SHOWN]]
        if len(self.findings) > _MOST_SHOWN:
            shown.append(f"… and {len(self.findings) - _MOST_SHOWN} more, in '.findings'")
        self.args = ("\n".join(shown),)


def headline(finding: dict[str, Any]) -> str:
    """The message with how often it arose and its kind."""
    count = finding["count"]
    times = f" ({count} times)" if count > 1 else ""
    return f"{finding['message']}{times} [{finding['kind']}]"


def location_of(finding: dict[str, Any]) -> Location | None:
    """The statement in the user's source, if it has one. Code of several lines that became one
    instruction has line 0."""
    if not finding["file"] or not finding["line"]:
        return None
    if finding["column"]:
        return widen(Location(finding["file"], finding["line"], finding["column"]))
    from tilewright.support.source import statement_at

    location = Location(finding["file"], finding["line"])
    return statement_at(location) or location


def notes_of(finding: dict[str, Any]) -> list[Note]:
    """The other access, and what the instructions did."""
    notes = []
    if finding.get("other"):
        file, _, line = finding["other"].rpartition(":")
        text = "the other access is here"
        if line == "0":
            text = "the other access stands on several lines, which became one instruction"
        notes.append(Note(Location(file, int(line)) if line != "0" else None, text))
    details = (
        text.removeprefix(f"{finding['message']}\n").strip() for text in finding.get("details", ())
    )
    return notes + [Note(None, text) for text in details]


def render_finding(
    finding: dict[str, Any], fallback: Location | None = None, kind: str = "error"
) -> str:
    """The whole text of one finding."""
    location = location_of(finding) or fallback
    return render(kind, headline(finding), location, notes_of(finding))


def is_serious(finding: dict[str, Any]) -> bool:
    """Whether it is a defect, not a note."""
    return finding["severity"] != "note"
