"""The scalar sections of docs/conformance.md."""

from __future__ import annotations

import sys
import time
from collections import defaultdict

from conformance.engines import DTYPES, ENGINES, FLOATS, INTEGERS, RUNNABLE, Engine
from conformance.measure import Batch, batches, measure
from conformance.record import Record
from conformance.scalars import OPERATIONS, Operation

#: (operation, dtype, engine): the largest error seen
Errors = dict[tuple[str, str, str], float]


def _measure(batch: Batch, engine: Engine) -> dict[str, float]:
    """The largest error of each operation of a batch."""
    print(f"{engine.name} {batch.name}", file=sys.stderr, flush=True)
    errors: dict[str, float] = defaultdict(float)
    for outcome in measure(batch, engine):
        name = outcome.case.operation.name
        errors[name] = max(errors[name], outcome.error)
    return errors


def _measure_all(full: bool, record: Record, until: float) -> Errors:
    """As long as there is time."""
    errors: Errors = defaultdict(float)
    for dtype in DTYPES:
        for batch in batches(dtype, full):
            for engine in RUNNABLE:
                name = f"{engine.name} {batch.name}"
                if name not in record.known and time.time() > until:
                    continue
                found = record.once(
                    name, lambda batch=batch, engine=engine: _measure(batch, engine)
                )
                for operation, error in found.items():
                    key = (operation, dtype, engine.name)
                    errors[key] = max(errors[key], error)
    return errors


def _dtypes(operation: Operation) -> str:
    """Which dtypes a row takes, in words."""
    chosen = set(operation.dtypes)
    for name, family in (
        ("all", DTYPES),
        ("numbers and bool", ("bool", *INTEGERS, *FLOATS)),
        ("integers, floats", (*INTEGERS, *FLOATS)),
        ("integers", INTEGERS),
        ("floats", FLOATS),
    ):
        if chosen == set(family):
            return name
    return ", ".join(d for d in DTYPES if d in chosen)


def _cell(operation: Operation, engine: str, errors: Errors) -> str:
    """What was seen: "exact", or units in the last place by width of the result."""
    if ENGINES[engine].missing:
        return "not run"
    # What `--quick` leaves out is no evidence.
    keys = [(d, (operation.name, d, engine)) for d in operation.dtypes]
    seen = [(d, errors[key]) for d, key in keys if key in errors]
    if not seen:
        return "not run"
    if any(error == float("inf") for _, error in seen):
        return "**wrong**"
    if not operation.ulps:
        return "exact"
    worst = {}
    for dtype, error in seen:
        worst[operation.result(dtype)] = max(worst.get(operation.result(dtype), 0), error)
    order = [d for d in ("float16", "bfloat16", "float32", "float64") if d in worst]
    return " / ".join(f"{worst[d]:.2f}" for d in order)


def _row(operation: Operation, errors: Errors) -> str:
    name = operation.text.format("x", "y", "z", dtype="dtype").replace("|", "\\|")
    cells = [_cell(operation, engine, errors) for engine in ENGINES]
    declared = f"{operation.ulps:.0f}" if operation.ulps >= 1 else "0.5" if operation.ulps else "0"
    return f"| `{name}` | {_dtypes(operation)} | {declared} | {' | '.join(cells)} |"


def _cast_table(errors: Errors) -> str:
    """Pairs of dtypes; a cell counts the ways (rounding modes, `sat`, spellings) and engines."""
    lines = [f"| from \\ to | {' | '.join(DTYPES)} |", "|---" * (len(DTYPES) + 1) + "|"]
    for source in DTYPES:
        cells = []
        for target in DTYPES:
            seen = [
                error
                for (name, dtype, _), error in errors.items()
                if dtype == source and (f'"{target}"' in name or name.startswith(f"T.{target}("))
            ]
            cells.append("**wrong**" if any(seen) else str(len(seen)))
        lines.append(f"| {source} | {' | '.join(cells)} |")
    return "\n".join(lines)


def sections(full: bool, record: Record, until: float) -> list[str]:
    """Measures on every engine of this machine."""
    errors = _measure_all(full, record, until)
    head = ["operation", "operands", "declared ulp", *ENGINES]
    table = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    table += [_row(operation, errors) for operation in OPERATIONS]
    values = (
        "All patterns of 8-bit operands and pairs of them, all patterns of one 16-bit operand; "
        "edges\nand random values beyond."
        if full
        else "Edges and random values only (`--quick`)."
    )
    return [
        "## Scalar operations",
        f'{values} "exact": every bit is the reference\'s. Numbers are the largest error seen, in\n'
        "units in the last place (0.5 is correctly rounded), of results in\n"
        "float16 / bfloat16 / float32 / float64.",
        "\n".join(table),
        "## Casts",
        "Every pair of dtypes, in all rounding modes, with and without `sat`, and\n"
        "reinterpretation of equal widths. A cell counts the ways and engines that were\n"
        "compared; all have the bits of the reference.",
        _cast_table(errors),
    ]
