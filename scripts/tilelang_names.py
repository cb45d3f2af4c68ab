#!/usr/bin/env python3
"""Checks the table of TileLang's names (python/tilewright/language/tilelang_names.tsv).

usage: scripts/tilelang_names.py [--fix]

Prints the lines that are not true: a name that is marked as there and is not, or the other way
round. With --fix, rewrites their statuses; what a name of a new status does is yours to check.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import tilewright.language as T
from tilewright import dtypes
from tilewright.language import names
from tilewright.support.not_part import NotPart


def actual_status(row: names.Name) -> str:
    """The status that the language itself shows."""
    try:
        value = getattr(T, row.name)
    except AttributeError:
        return "refused"
    if isinstance(value, NotPart):
        return "refused"
    if row.name in dtypes.NAMED and row.name not in dtypes.NARROW:
        return "name only"
    return row.status if row.status in ("yes", "no effect") else "yes"


def wrong_rows() -> list[tuple[names.Name, str]]:
    """The lines whose status is not true, each with the right one."""
    rows = names.table().values()
    return [(row, actual_status(row)) for row in rows if actual_status(row) != row.status]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix", action="store_true", help="rewrite the statuses")
    options = parser.parse_args()
    wrong = dict((row.name, status) for row, status in wrong_rows())
    for name, status in wrong.items():
        print(f"T.{name}: the table says '{names.table()[name].status}', it is '{status}'")
    if not options.fix:
        return 1 if wrong else 0
    lines = []
    for row in names.table().values():
        status = wrong.get(row.name, row.status)
        note = row.note if status in ("refused", "name only") else ""
        lines.append("\t".join([row.name, status, note]).rstrip("\t"))
    names.TABLE.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
