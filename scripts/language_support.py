#!/usr/bin/env python3
"""Runs the example of each name of the language on every device, and writes where it does not run.

The result is docs/reference/support.tsv, from which the reference says which engines and
architectures support a name: a line for each name and reason why devices refuse it. Names that are
not in it run everywhere. A slow test compares the file with the truth.

usage: scripts/language_support.py [NAME...]     prints the lines of these names; without, all are
                                                 written
"""

from __future__ import annotations

import sys

from docs_pages.support import TABLE, examples, refusals, text_of


def main(names: list[str]) -> int:
    chosen = {name: text for name, text in examples().items() if not names or name in names}
    table = {name: found for name, text in chosen.items() if (found := refusals(text))}
    if names:
        print(text_of(table), end="")
    else:
        TABLE.write_text(text_of(table), encoding="utf-8")
        print(f"{len(chosen)} examples, {len(table)} do not run everywhere: {TABLE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
