"""Small pieces of HTML for notebooks (`_repr_html_`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table of texts; `caption` is a line above it."""
    title = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    heads = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in head)
    lines = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{escape(str(cell))}</td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    return f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def line(text: str, colour: str = "") -> str:
    """A line of text."""
    style = f' style="color:{colour}"' if colour else ""
    return f"<div{style}>{escape(text)}</div>"
