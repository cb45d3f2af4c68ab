"""A picture of the events of one block, with the times of the cost model (cost_model.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.report.cost_model import CAUSES, RULES, Model
from tilewright.report.machines import Machine

#: A picture with more stretches than this is made coarser.
MOST_SPANS = 5000


def _merge(spans: list[list[Any]], gap: float) -> list[list[Any]]:
    """Neighbours of one kind and line become one; what is shorter than `gap` joins its
    neighbour."""
    merged: list[list[Any]] = []
    for start, end, kind, line in sorted(spans, key=lambda span: span[:2]):
        last = merged[-1] if merged else None
        if last and start <= last[1] + gap and (last[2:] == [kind, line] or end - start < gap):
            last[1] = max(last[1], end)
        else:
            merged.append([start, end, kind, line])
    return merged


def make_timeline(
    trace: Mapping[str, Any], source_of: Mapping[int, tuple[int, int] | None], machine: Machine,
    threads: int,
) -> dict[str, Any]:  # fmt: skip
    """The rows of a picture: a span is [start, end, kind, file, line], times in cycles. Warps after
    the program's `threads` are producers."""
    model = Model(machine, trace["warps"], trace.get("lines"))
    model.play(trace["events"])
    stalls: dict[tuple[str, int, int], float] = {}
    for warp in model.warps:
        for start, end, kind, line in warp.spans:
            if kind in CAUSES:
                file, location = source_of.get(line) or (-1, 0)
                key = (kind, file, location)
                stalls[key] = stalls.get(key, 0.0) + end - start

    def located(spans: list[list[Any]]) -> list[list[Any]]:
        return [
            [start, end, kind, list(source_of.get(line) or (-1, 0))]
            for start, end, kind, line in spans
        ]

    names = [
        f"warp {n}" + (", producer" if n * 32 >= threads else "") for n in range(trace["warps"])
    ]
    rows = [(name, located(warp.spans)) for name, warp in zip(names, model.warps, strict=True)]
    rows.append(("copies in flight", located(model.copies)))
    rows.append(("tensor cores", located(model.products)))
    total = max((span[1] for _, spans in rows for span in spans), default=0.0)
    gap = 0.0
    while True:
        shown = [(name, _merge(spans, gap)) for name, spans in rows]
        if sum(len(spans) for _, spans in shown) <= MOST_SPANS:
            break
        gap = gap * 2 or total / 8000
    return {
        "unit": "cycles",
        "is_model": True,
        "machine": machine.name,
        "rules": RULES,
        "total": round(total),
        "rows": [
            {
                "name": name,
                "spans": [[round(s), round(e), k, *location] for s, e, k, location in spans],
            }
            for name, spans in shown
        ],
        "busy": {
            name: round(sum(warp_span[1] - warp_span[0] for warp_span in spans), 1)
            for name, spans in rows
        },
        "stalls": [
            {"cause": cause, "file": file, "line": line, "cycles": round(cycles)}
            for (cause, file, line), cycles in sorted(stalls.items(), key=lambda item: -item[1])
        ],
    }
