"""What changed from one report to another: decisions, counters, resources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

#: Figures of a launch that are compared, with their names for readers; fewer is better for all.
_RESOURCES = {
    "threads": "threads of a block",
    "shared_bytes": "shared memory, bytes",
    "registers": "registers of a thread",
    "spilled_bytes": "spilled, bytes",
}
_COUNTERS = {
    "warp_instructions": "warp instructions",
    "tensor_operations": "tensor operations",
    "barrier_waits": "barrier waits",
    "global_bytes_read": "global memory read, bytes",
    "global_bytes_written": "global memory written, bytes",
    "global_sectors": "sectors of global memory",
    "shared_wavefronts": "passes of shared memory",
    "shared_bytes_read": "shared memory read, bytes",
    "shared_bytes_written": "shared memory written, bytes",
}
_OF_LINES = ("warp_instructions", "tensor_operations", "shared_wavefronts", "global_sectors")


def _figures(report: dict[str, Any]) -> dict[str, float | None]:
    """The figures of all launches together, by their names."""
    figures: dict[str, float | None] = {}
    for launch in report["launches"]:
        counters = launch["counters"] or {}
        for key, name in _RESOURCES.items():
            value = launch.get(key)
            figures[name] = value if figures.get(name) is None else max(figures[name], value or 0)
        for key, name in _COUNTERS.items():
            if key in counters:
                figures[name] = (figures.get(name) or 0) + counters[key]
        roofline = launch["roofline"].get(report["arch"])
        if roofline:
            name = "predicted time, microseconds (a model)"
            figures[name] = (figures.get(name) or 0) + roofline["microseconds"]
        if launch["trace"]:
            name = "cycles of a block (a model)"
            figures[name] = (figures.get(name) or 0) + launch["trace"]["timeline"]["total"]
    return figures


def text_of_line(report: dict[str, Any], location: list[int] | None) -> str:
    """The source line at a location, without its indentation."""
    if location is None:
        return ""
    file = report["files"][location[0]]
    number = location[1] - file["first"]
    return file["lines"][number].strip() if 0 <= number < len(file["lines"]) else ""


def _decisions(report: dict[str, Any]) -> Counter[tuple[str, str, str]]:
    return Counter(
        (remark["kind"], text_of_line(report, remark["location"]), remark["message"])
        for remark in report["remarks"]
    )


def _lines(report: dict[str, Any]) -> dict[str, dict[str, int]]:
    """The counters of each source line, by its text: lines move from one version to the next."""
    found: dict[str, dict[str, int]] = {}
    for launch in report["launches"]:
        for line in (launch["counters"] or {}).get("source_lines", []):
            text = text_of_line(report, line["location"])
            if text:
                entry = found.setdefault(text, dict.fromkeys(_OF_LINES, 0))
                for key in _OF_LINES:
                    entry[key] += line.get(key, 0)
    return found


def _changed_lines(a: dict[str, Any], b: dict[str, Any]) -> Iterator[dict[str, Any]]:
    before, after = _lines(a), _lines(b)
    for text in dict.fromkeys([*before, *after]):
        old, new = before.get(text), after.get(text)
        if old != new:
            yield {"text": text, "a": old, "b": new}


def compare(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """The differences of two reports: {"figures", "removed", "added", "lines", "tiles"}."""
    old, new = _figures(a), _figures(b)
    before, after = _decisions(a), _decisions(b)
    tiles: dict[str, list[Any]] = {}
    for side, report in enumerate((a, b)):
        for launch in report["launches"]:
            for tile in launch["tiles"]:
                notation = tile["layout"]["notation"] if tile["layout"] else ""
                text = f"{tile['space']} {notation}".strip()
                if tile["versions"] > 1:
                    text += f", {tile['versions']} versions"
                tiles.setdefault(tile["name"], [None, None])[side] = text

    def listed(decisions: Counter[tuple[str, str, str]]) -> list[dict[str, Any]]:
        return [
            {"kind": kind, "line": line, "message": message, "count": count}
            for (kind, line, message), count in decisions.items()
        ]

    return {
        "figures": [
            {"name": name, "a": old.get(name), "b": new.get(name)}
            for name in dict.fromkeys([*old, *new])
            if old.get(name) is not None or new.get(name) is not None
        ],
        "removed": listed(before - after),
        "added": listed(after - before),
        "lines": list(_changed_lines(a, b)),
        "tiles": [
            {"name": name, "a": sides[0], "b": sides[1]}
            for name, sides in tiles.items()
            if sides[0] != sides[1]
        ],
    }


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:.3g}"


def describe(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """The differences as lines of text."""
    found = compare(a, b)
    changed = [figure for figure in found["figures"] if figure["a"] != figure["b"]]
    lines = []
    width = max((len(figure["name"]) for figure in changed), default=0)
    for figure in changed:
        before, after = figure["a"], figure["b"]
        share = f" ({(after / before - 1) * 100:+.1f} %)" if before and after is not None else ""
        text = f"{_number(before):>14} -> {_number(after):>14}"
        lines.append(f"{figure['name']:<{width}} {text}{share}")
    for sign, kind in (("-", "removed"), ("+", "added")):
        for decision in found[kind]:
            times = f" ({decision['count']} times)" if decision["count"] > 1 else ""
            where = f" at '{decision['line']}'" if decision["line"] else ""
            lines.append(f"{sign} {decision['kind']}: {decision['message']}{times}{where}")
    for tile in found["tiles"]:
        lines.append(f"tile '{tile['name']}': {tile['a'] or 'absent'} -> {tile['b'] or 'absent'}")
    return lines or ["no decision and no counter differs"]
