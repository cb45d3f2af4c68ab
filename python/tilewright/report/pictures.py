"""Pictures of a report's data as SVG, for pages and notebooks that are not reports."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

#: What a stretch of the timeline is, and its colour; the kinds of timeline.py.
_KINDS = {
    "run": ("#5b9bd5", "instructions"),
    "tensor": ("#9c6ade", "products of the warp"),
    "load": ("#f2b134", "waits for loads"),
    "copy": ("#f98b35", "copies; waits for copies"),
    "product": ("#e06cb8", "asynchronous products; waits for them"),
    "barrier": ("#e05252", "waits at a barrier"),
    "mbarrier": ("#a83c45", "waits for an mbarrier"),
}
_LEFT, _ROW, _WIDTH = 120, 18, 900


def plot_timeline(
    data: dict[str, Any], path: str | Path | None = None, launch: int = 0, title: str = ""
) -> str:
    """An SVG picture: what the warps, copies and products of one block do, over time.

    `data` is `kernel.report_data()`. The order of events is that of the virtual GPU; the times are
    a model, as the report says. Written to `path`, if given.

    Example:
        data = kernel.report_data(arch="sm_80")
        plot_timeline(data, "timeline.svg")
    """
    timeline = data["launches"][launch]["trace"]["timeline"]
    total = timeline["total"] or 1
    rows = timeline["rows"]
    kinds = list(dict.fromkeys(span[2] for row in rows for span in row["spans"]))
    top = 44 if title else 26
    height = top + len(rows) * _ROW + 24
    parts = [f'<text x="4" y="16" font-weight="bold">{escape(title)}</text>'] if title else []
    parts += _legend(kinds, top - 12)
    for number, row in enumerate(rows):
        parts += _row(row, total, top + number * _ROW)
    bottom = top + len(rows) * _ROW + 14
    for part in range(5):
        x = _LEFT + part * (_WIDTH - _LEFT - 10) / 4
        anchor = "end" if part == 4 else "middle"
        parts.append(f'<text x="{x:.0f}" y="{bottom}" text-anchor="{anchor}">'
                     f"{round(total * part / 4):,}</text>")  # fmt: skip
    parts.append(f'<text x="{_LEFT - 6}" y="{bottom}" text-anchor="end">cycles (a model)</text>')
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="11">'
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )
    if path is not None:
        Path(path).write_text(svg, encoding="utf-8")
    return svg


def _legend(kinds: Iterable[str], y: int) -> list[str]:
    parts, x = [], 4
    for kind in kinds:
        colour, text = _KINDS[kind]
        parts.append(
            f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
            f'<text x="{x + 14}" y="{y}">{escape(text)}</text>'
        )
        x += 26 + 6 * len(text)
    return parts


def _row(row: dict[str, Any], total: float, y: int) -> list[str]:
    parts = [f'<text x="{_LEFT - 6}" y="{y + 13}" text-anchor="end">{escape(row["name"])}</text>']
    scale = (_WIDTH - _LEFT - 10) / total
    for start, end, kind, *_ in row["spans"]:
        x, width = _LEFT + start * scale, max((end - start) * scale, 0.6)
        parts.append(
            f'<rect x="{x:.1f}" y="{y + 2}" width="{width:.1f}" height="{_ROW - 4}" '
            f'fill="{_KINDS[kind][0]}"/>'
        )
    return parts
