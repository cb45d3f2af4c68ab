"""Colours of reports on a terminal: the severity, the location and the carets stand out.

`NO_COLOR` and `TERM=dumb` switch them off, `FORCE_COLOR` switches them on elsewhere too.
"""

from __future__ import annotations

import os
import re
from typing import TextIO

_BOLD, _RED, _GREEN, _YELLOW, _CYAN, _RESET = (
    f"\x1b[{code}m" for code in ("1", "1;31", "1;32", "1;33", "1;36", "0")
)
_SEVERITY = {
    "error": _RED,
    "internal error": _RED,
    "warning": _YELLOW,
    "note": _CYAN,
    "remark": _CYAN,
}
_HEADLINE = re.compile(
    r"^(?P<location>\S[^\n]*?:\d+(?::\d+)?: |tw: )?"
    r"(?P<severity>internal error|error|warning|note|remark): "
)
_CARETS = re.compile(r"^(?P<margin> *\| *)(?P<carets>\^+)$")


def has_colour(stream: TextIO) -> bool:
    """Whether the stream shows colours."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, stream: TextIO) -> str:
    """A report with colours, if the stream shows them."""
    if not has_colour(stream):
        return text
    return "\n".join(_paint_line(line) for line in text.split("\n"))


def _paint_line(line: str) -> str:
    found = _HEADLINE.match(line)
    if found:
        location, severity = found["location"] or "", found["severity"]
        rest = line[found.end() :]
        head = f"{_BOLD}{location}{_RESET}" if location else ""
        return f"{head}{_SEVERITY[severity]}{severity}:{_RESET} {rest}"
    carets = _CARETS.match(line)
    if carets:
        return f"{carets['margin']}{_GREEN}{carets['carets']}{_RESET}"
    return line
