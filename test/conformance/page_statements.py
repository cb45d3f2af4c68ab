"""The sections on statements of docs/conformance.md."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from typing import Any

from conformance.engines import ENGINES, RUNNABLE
from conformance.record import Record
from conformance.statements import FAMILIES, Choice
from conformance.test_statements import check, choices_of

#: What one program gave: "right", or what is wrong.
Outcome = tuple[str, Choice, str]


def _measure(name: str, choice: Choice) -> str:
    try:
        check(ENGINES[choice["engine"]], FAMILIES[name].build(choice), name)
    except Exception as error:
        print(f"{name} {choice}: {error}", file=sys.stderr, flush=True)
        return type(error).__name__
    return "right"


def _all_choices(full: bool) -> list[tuple[str, Choice]]:
    """Of all families, in a random order: a measurement that is stopped has seen all alike."""
    made = [(name, choice) for name in FAMILIES for choice in choices_of(name, RUNNABLE, not full)]
    random.Random(7).shuffle(made)
    return made


def _key(name: str, choice: Choice) -> str:
    return f"{name} " + " ".join(f"{k}={choice[k]}" for k in sorted(choice))


def _dtype(choice: Choice) -> str:
    """The dtype of a choice's row: of a product, those of its operands and its result."""
    if "dtypes" in choice:
        first, second, result = choice["dtypes"]
        return f"{first} x {second} to {result}" if first != second else f"{first} to {result}"
    return choice["dtype"]


def _place(choice: Choice) -> tuple[Any, ...]:
    return choice.get("form"), choice.get("memory")


def _table(family: str, outcomes: list[Outcome], possible: dict[str, set]) -> str:
    """Dtypes by engines; a cell counts the operand's forms in memories that were compared."""
    seen: dict[tuple[str, str], set] = defaultdict(set)
    wrong: Counter[tuple[str, str]] = Counter()
    for _, choice, outcome in outcomes:
        cell = (_dtype(choice), choice["engine"])
        seen[cell].add(_place(choice))
        wrong[cell] += outcome != "right"
    lines = [f"| dtype | {' | '.join(ENGINES)} |", "|---" * (len(ENGINES) + 1) + "|"]
    for dtype, places in possible.items():
        cells = []
        for engine in ENGINES.values():
            have = len(seen[dtype, engine.name])
            text = f"{have} of {len(places)}" if have < len(places) else f"all {have}"
            if wrong[dtype, engine.name]:
                text = f"**{wrong[dtype, engine.name]} wrong**"
            cells.append("not run" if engine.missing or not have else text)
        lines.append(f"| {dtype} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _possible(family: str) -> dict[str, set]:
    """By dtype the forms and memories that the language has."""
    places: dict[str, set] = defaultdict(set)
    for choice in choices_of(family, RUNNABLE[:1], quick=False):
        places[_dtype(choice)].add(_place(choice))
    return dict(places)


def sections(full: bool, record: Record, until: float) -> list[str]:
    """Measures on every engine of this machine, as long as there is time."""
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for name, choice in _all_choices(full):
        key = _key(name, choice)
        if key in record.known or time.time() < until:
            outcome = record.once(key, lambda name=name, choice=choice: _measure(name, choice))
            outcomes[name].append((name, choice, outcome))
    parts = [
        "## Statements",
        "Each program has its first operand in one form and one memory, and is compared bit by\n"
        "bit with a reference (signs of sums that are zero excepted). A cell says in how many of\n"
        "the forms (plain, views of narrower and wider elements, reshaped, slices, strided, part\n"
        "of a stack, re-laid-out, swizzled, padded) and memories (global, shared, registers) that\n"
        "exist for the dtype programs were compared; forms and memories of other operands,\n"
        "shapes, threads and options vary with them.",
    ]
    for family, row in FAMILIES.items():
        names = ", ".join(f"`T.{name}`" for name in row.names) or "reading what is written"
        count = len(outcomes[family])
        parts += [
            f"### {family[0].upper()}{family[1:]}",
            f"{names}: {count} programs.",
            _table(family, outcomes[family], _possible(family)),
        ]
    return parts
