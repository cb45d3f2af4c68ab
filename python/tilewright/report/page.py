"""Writes reports as one HTML page, and reads them back.

The page is the template, style and scripts of `assets/`, and the data as compressed JSON: nothing
is loaded from elsewhere.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from tilewright.report.compare import compare
from tilewright.support.errors import TilewrightError

#: The scripts of the page, in order.
SCRIPTS = (
    "core.js", "summary.js", "source.js", "code.js", "layouts.js", "memory.js", "compare.js",
    "start.js",
)  # fmt: skip

#: A page with more reports compares only neighbours.
_MOST_PAIRS = 6

_DATA = re.compile(r'<script type="application/octet-stream" id="data">([^<]*)</script>')


def _asset(name: str) -> str:
    return files("tilewright.report").joinpath("assets", name).read_text(encoding="utf-8")


def make_page(reports: Sequence[dict[str, Any]]) -> str:
    """One page for these reports (`kernel.report_data()`)."""
    pairs = [(a, b) for b in range(len(reports)) for a in range(b)]
    if len(reports) > _MOST_PAIRS:
        pairs = [(b - 1, b) for b in range(1, len(reports))]
    data = {
        "reports": list(reports),
        "comparisons": [{"a": a, "b": b, **compare(reports[a], reports[b])} for a, b in pairs],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    names = ", ".join(dict.fromkeys(report["name"] for report in reports))
    page = _asset("page.html")
    parts = {
        "TITLE": escape(f"{names}: what the compiler decided"),
        "STYLE": _asset("style.css"),
        "DATA": packed,
        "SCRIPTS": "\n".join(f"<script>\n{_asset(name)}</script>" for name in SCRIPTS),
    }
    for name, part in parts.items():
        page = page.replace(f"<!-- {name} -->", part)
    return page


def write_page(path: str | Path, reports: Sequence[dict[str, Any]]) -> None:
    """Writes the page of these reports to a file."""
    Path(path).write_text(make_page(reports), encoding="utf-8")


def read_page(path: str | Path) -> list[dict[str, Any]]:
    """The reports of a page, or of a file of JSON (`kernel.report_data()`, or a list of it)."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise TilewrightError(f"'{path}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TilewrightError(f"'{path}' is no report of Tilewright") from None
    found = _DATA.search(text)
    try:
        if found:
            reports = json.loads(zlib.decompress(base64.b64decode(found[1])))["reports"]
        else:
            reports = json.loads(text)
            reports = reports if isinstance(reports, list) else [reports]
        if not reports or any(report["schema"] < 1 for report in reports):
            raise KeyError("schema")
    except (ValueError, KeyError, TypeError, zlib.error):
        raise TilewrightError(f"'{path}' is no report of Tilewright") from None
    return reports
