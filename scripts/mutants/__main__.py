#!/usr/bin/env python3
"""Mutants of our own lowerings: how many does the suite kill?

    scripts/mutants prepare      draws mutants into a copy of the checkout, build-mutants/tree
    make build                   there: one build that holds them all
    scripts/mutants run          there: judges them; goes on where the last run ended
    scripts/mutants page         docs/internals/mutants.md, from the results
    scripts/mutants show 17      what mutant 17 is, and what became of it

Each with .venv/bin/python before it. `prepare` needs clang's Python bindings and libclang
(scripts/bootstrap.sh mutants). `run` takes at most three hours (--minutes); `--part 0/2` and
`--part 1/2` share it between two processes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

ROOT = Path(__file__).resolve().parent.parent.parent
SUITES = ("test/programs", "test/conformance", "test/python")
#: Tests that start compilers or many processes, or are about files, not about code.
LEFT_OUT = (
    "test_cache.py", "test_package.py", "test_notebooks.py", "test_report_page.py", "test_cli.py",
    "test_cpp_examples.py", "test_ptx_mutants.py", "test_differential.py", "test_interrupts.py",
    "test_compiling_threads.py",
)  # fmt: skip


def prepare(options: argparse.Namespace) -> int:
    from mutants.prepare import ROOMS
    from mutants.prepare import prepare as write

    write(options.build, options.tree, options.count, options.seed, options.rooms or list(ROOMS))
    return 0


def run(options: argparse.Namespace) -> int:
    part, parts = (int(number) for number in options.part.split("/"))
    folder = options.results.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"table-{part}"
    os.environ["TW_MUTANTS"] = str(table)
    os.environ["TILEWRIGHT_CACHE"] = "0"  # wrong code must not be kept
    os.environ["TILEWRIGHT_THREADS"] = os.environ.get("TILEWRIGHT_THREADS", "2")
    import pytest

    from mutants.items import lit_items, pytest_items, seed_items, unit_items
    from mutants.judge import KILLERS, Judge, Options, Table, read_killers

    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which ends the child, too
    shared = Table(table)
    wanted = Options(
        folder, options.budget, time.time() + 60 * options.minutes, (part, parts),
        options.baseline, read_killers(KILLERS), options.rooms or [],
    )  # fmt: skip
    mutants = json.loads((ROOT / "mutants.json").read_text())

    class Loop:
        """Takes the place of pytest's own loop over the tests."""

        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            made = {"lit": lit_items, "unit": unit_items, "seed": seed_items}
            quick = [item for name in options.quick for item in made[name]()]
            collected = list(pytest_items(session.items))
            judge = Judge(mutants, [*quick, *collected], shared, wanted)
            order = [item.name for item in quick]
            names = [item.name for item in collected]
            random.Random(5).shuffle(names)
            killers = set(wanted.killers.values())
            judge.measure(sorted(order + names, key=lambda name: name not in killers))
            for name in judge.broken():
                print(f"fails with no mutant on: {name}", flush=True)
            judge.run()
            if not options.alone:
                judge.run_together(order + names)
            return True

    ignored = [f"--ignore-glob=*/{name}" for name in LEFT_OUT]
    chosen = [*options.suites] if options.suites else [*SUITES]
    return pytest.main(
        ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", *ignored, *chosen],
        plugins=[Loop()],
    )


def show(options: argparse.Namespace) -> int:
    from mutants.judge import results_of

    mutants = {m["id"]: m for m in json.loads((ROOT / "mutants.json").read_text())}
    results = results_of(options.results)
    for number in options.numbers:
        result = {k: v for k, v in results.get(number, {}).items() if k != "passed"}
        print(json.dumps(mutants[number], ensure_ascii=False), json.dumps(result), sep="\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("prepare")
    one.add_argument(
        "--build", type=Path, default=ROOT / "build", help="a finished build, for its flags"
    )
    one.add_argument("--tree", type=Path, default=ROOT / "build-mutants" / "tree")
    one.add_argument("--count", type=int, default=120, help="of each room")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--rooms", nargs="*")
    two = verbs.add_parser("run")
    two.add_argument("--minutes", type=float, default=180)
    two.add_argument(
        "--budget", type=float, default=3, help="seconds of tests for a mutant by itself"
    )
    two.add_argument(
        "--baseline", type=float, default=400, help="seconds of tests to measure first"
    )
    two.add_argument("--part", default="0/1")
    two.add_argument("--alone", action="store_true", help="leave the rest of the suite to later")
    two.add_argument("--rooms", nargs="*")
    two.add_argument("--suites", nargs="*", help="of pytest; default: all that are quick")
    two.add_argument(
        "--quick", nargs="*", default=["lit", "unit", "seed"], help="tests to run first"
    )
    three = verbs.add_parser("page")
    three.add_argument("--tree", type=Path, default=ROOT / "build-mutants" / "tree")
    four = verbs.add_parser("show")
    four.add_argument("numbers", type=int, nargs="+")
    for verb in (two, three, four):
        verb.add_argument("--results", type=Path, default=ROOT / "build" / "mutants")
    options = parser.parse_args()
    if options.verb == "page":
        from mutants.page import write_page

        write_page(options.tree, options.results)
        return 0
    return {"prepare": prepare, "run": run, "show": show}[options.verb](options)


if __name__ == "__main__":
    sys.exit(main())
