"""scripts/mutants: what is switched on, what a child process makes of tests, how a run goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from mutants.children import run_in_child  # noqa: E402
from mutants.items import Item  # noqa: E402
from mutants.judge import (  # noqa: E402
    Judge,
    Known,
    Options,
    Table,
    key_of,
    read_killers,
    results_of,
)
from mutants.page import write_page  # noqa: E402

PROGRAM = """
#include "TwMutant.h"
int main() { return (tw::mutant(2) ? 7 : 5) + (tw::mutant(9) ? 100 : 0); }
"""
#: A condition that becomes true, a side of "and" that goes, "<" for "<="; each for two values.
SHY = """
#include "TwMutant.h"
bool both(bool a, bool b, int n) { return tw::switched(n) ? a : (a && tw::told(n, false, b)); }
int main() {
  const bool same = tw::always(1, true, true) && !both(false, false, 2) && both(true, true, 2) &&
                    (tw::differs(3, 4 == 5) ? 4 <= 5 : 4 < 5);
  return tw::always(4, true, false) + both(true, false, 5) + (tw::differs(6, 4 == 4) ? 1 : 0) +
         !same;
}
"""


def build(tmp_path: Path, text: str) -> tuple[Table, Callable[[], int]]:
    """The table of a program with mutants, and what runs the program."""
    source, program = tmp_path / "p.cpp", tmp_path / "p"
    source.write_text(text)
    subprocess.run(
        ["clang++-22", "-std=c++20", f"-I{ROOT / 'scripts' / 'mutants'}", source, "-o", program],
        check=True,
    )
    table = Table(tmp_path / "table")
    environment = {**os.environ, "TW_MUTANTS": str(tmp_path / "table")}
    return table, lambda: subprocess.run([program], env=environment, check=False).returncode


def test_one_build_holds_all_mutants(tmp_path: Path) -> None:
    table, status = build(tmp_path, PROGRAM)
    assert (status(), table.reached()) == (5, [2, 9])
    table.switch_on(2)
    assert status() == 7
    table.switch_on(9)
    assert status() == 105
    table.switch_on(2, 9)
    assert status() == 107
    alone = subprocess.run([tmp_path / "p"], check=False)
    assert alone.returncode == 5  # without a table none is on


def test_a_mutant_that_changes_no_value_is_not_reached(tmp_path: Path) -> None:
    table, status = build(tmp_path, SHY)
    assert (status(), table.reached()) == (0, [4, 5, 6])
    table.switch_on(4, 5, 6)
    assert status() == 3


def endless() -> bool:
    while True:
        pass


def wait() -> bool:
    time.sleep(3600)
    return True


@pytest.mark.parametrize(
    ("last", "how"),
    [
        (lambda: True, ""),
        (lambda: False, "failed"),
        (lambda: 1 // 0, "failed"),
        (os.abort, "crashed"),
        (endless, "hung"),
    ],
)
def test_a_child_says_how_its_tests_ended(last, how: str) -> None:
    items = [Item("unit:a", lambda: True), Item("unit:b", last)]
    seen = run_in_child(items, [0.5, 0.5])
    assert (seen.passed, seen.how) == (1 if how else 2, how)


def test_waiting_without_end_is_hanging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mutants.children.WAIT_SECONDS", 1.0)
    assert run_in_child([Item("unit:a", wait)], [0.0]).how == "hung"


class Compiler:
    """Reaches mutants 1 and 2 in one test, 2 in another; 3 changes nothing, 4 is never reached."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.items = [
            Item("unit:both", lambda: self.computes(1) == 1 and self.computes(3) == 3),
            Item("seed:x:0", lambda: self.computes(2) == 2),
            Item("pytest:t.py::broken", lambda: False),
        ]

    def computes(self, number: int) -> int:
        self.table.reach(number)
        return -number if self.table.is_on(number) and number < 3 else number


MUTANTS = [
    {"id": n, "room": "Layout", "file": "lib/Layout/A.cpp", "line": n, "kind": "±1", "was": f"{n}",
     "becomes": f"{n} + 1", "text": f"return ‹{n}›;"}
    for n in (1, 2, 3, 4)
]  # fmt: skip


def judge(folder: Path, budget: float = 10.0) -> Judge:
    table = Table(folder / "table-0")
    items = Compiler(table).items
    made = Judge(MUTANTS, items, table, Options(folder, budget, time.time() + 60, (0, 1), 60.0))
    made.measure([item.name for item in items])
    made.run()
    return made


def test_a_mutant_meets_the_tests_that_reach_it(tmp_path: Path) -> None:
    made = judge(tmp_path)
    assert not made.known["pytest:t.py::broken"].passes
    results = results_of(tmp_path)
    assert [results[n]["status"] for n in (1, 2, 3, 4)] == [
        "killed", "killed", "survived", "unreached",
    ]  # fmt: skip
    assert [results[n].get("by") for n in (1, 2, 3)] == ["unit:both", "seed:x:0", None]


def test_a_run_goes_on_where_one_ended(tmp_path: Path) -> None:
    judge(tmp_path)
    before = (tmp_path / "results-0.jsonl").read_text()
    assert before.count("\n") == 4
    judge(tmp_path)
    assert (tmp_path / "results-0.jsonl").read_text() == before
    (tmp_path / "results-0.jsonl").write_text(before.splitlines()[0] + '\n{"id": 2, "sta')
    judge(tmp_path)
    assert results_of(tmp_path).keys() == {1, 2, 3, 4}


def test_the_page_counts_and_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge(tmp_path)
    (tmp_path / "mutants.json").write_text(json.dumps(MUTANTS))
    reasons = tmp_path / "reasons.json"
    reasons.write_text(
        json.dumps([{**{k: MUTANTS[2][k] for k in ("file", "text", "becomes")}, "why": "same"}])
    )
    monkeypatch.setattr("mutants.page.REASONS", reasons)
    monkeypatch.setattr("mutants.page.PAGE", tmp_path / "page.md")
    monkeypatch.setattr("mutants.page.KILLERS", tmp_path / "killers.txt")
    write_page(tmp_path, tmp_path)
    text = (tmp_path / "page.md").read_text()
    assert "| Layout | 4 | 4 | 2 | 1 | 0 | 1 | 67% |" in text
    assert "| lib/Layout/A.cpp:3 | ±1 | `3` | `3 + 1` | 1 | same |" in text
    assert "| lib/Layout/A.cpp:4 | ±1 | `4` | `4 + 1` | 0 |  |" in text
    killers = read_killers(tmp_path / "killers.txt")
    assert killers == {key_of(MUTANTS[0]): "unit:both", key_of(MUTANTS[1]): "seed:x:0"}


def test_the_killer_of_an_earlier_run_comes_first(tmp_path: Path) -> None:
    made = judge(tmp_path)
    for name in ("unit:a", "unit:b", "unit:c"):
        made.items[name] = Item(name, lambda: True)
        made.known[name] = Known(0.0, True, frozenset({1}))
    assert made.order(MUTANTS[0], set())[0] != "unit:c"
    made.options.killers = {key_of(MUTANTS[0]): "unit:c"}
    assert made.order(MUTANTS[0], set())[0] == "unit:c"


def test_what_is_left_meets_tests_together(tmp_path: Path) -> None:
    """Ten mutants that a test reaches: it runs for all, and for halves only where it fails."""
    table = Table(tmp_path / "table-0")
    runs = []

    def run(killed: set[int], hidden: set[int] = frozenset()) -> bool:
        on = {n for n in range(1, 11) if table.is_on(n)}
        runs.append(on)
        for number in range(1, 11):
            if number not in hidden or not on - hidden:  # others keep the code from getting there
                table.reach(number)
        (tmp_path / "runs").open("a").write(f"{sorted(on)}\n")
        return not on & killed

    mutants = [{**MUTANTS[0], "id": n, "line": n} for n in range(1, 11)]
    items = [Item("unit:all", lambda: run(set())), Item("unit:one", lambda: run({6})),
             Item("unit:two", lambda: run({3, 9}, {9}))]  # fmt: skip
    made = Judge(mutants, items, table, Options(tmp_path, 0.0, time.time() + 60, (0, 1), 60.0))
    made.measure(["unit:all"])
    made.options.budget = -1.0  # none by itself
    made.run()
    assert {r["status"] for r in results_of(tmp_path).values()} == {"unreached"}
    (tmp_path / "runs").write_text("")
    made.run_together([item.name for item in items])
    results = results_of(tmp_path)
    assert {n for n, r in results.items() if r["status"] == "killed"} == {3, 6, 9}
    assert results[6]["by"] == "unit:one" and results[9]["by"] == "unit:two"
    assert results[1]["passed"] == ["unit:all", "unit:one", "unit:two"]
    lines = (tmp_path / "runs").read_text().splitlines()
    assert lines[0] == str(list(range(1, 11)))  # all pass together
    assert len(lines) < 25
    made.run_together([item.name for item in items])
    assert (tmp_path / "runs").read_text().splitlines() == lines  # nothing is left to do


# ---- Sites ----

SOURCE = """
struct Op { int width; };
constexpr int kWide = 4;
bool fits(const Op &op, int count, unsigned limit) {
  if (count < 3 && op.width == kWide)
    return static_cast<int>(limit) > count - op.width;
  return !fits(op, count, limit);
}
struct Number { int value; };
Number operator-(const Number &, const Number &);
void move(Number &to, const Number &from) { to = from; to = to - from; }
int pick(int first, int second) { return pick(first * 2, second); }
template <int N> int table() { return N + 1; }
"""


def test_sites_are_expressions_inside_of_functions(tmp_path: Path) -> None:
    pytest.importorskip("clang.cindex")
    from mutants.prepare import DECLARATION
    from mutants.sites import errors_of, fill, find, parse

    path = tmp_path / "a.cpp"
    path.write_text(SOURCE)
    found = list(find(path, "a.cpp", ["-std=c++20"]))
    changes = {(m.kind, m.was, m.becomes) for m in found}
    assert {
        ("±1", "count < 3", "count <= 3"),
        ("swapped", "count - op.width", "(op.width) - (count)"),
        ("dropped", "count < 3 && op.width == kWide", "count < 3"),
        ("dropped", "op.width == kWide", "op.width != kWide"),
        ("dropped", "!fits(op, count, limit)", "fits(op, count, limit)"),
        ("width", "static_cast<int>(limit)", "static_cast<int16_t>(limit)"),
        ("swapped", "first * 2, second", "second, first * 2"),
    } <= changes
    assert ("swapped", "to, from", "from, to") in changes  # of the minus
    assert (
        len([m for m in found if m.line == SOURCE[: SOURCE.index("void move")].count("\n") + 1])
        == 1
    )
    assert not any("N + 1" in m.was or m.was == "4" for m in found)
    for mutation in found:  # each by itself is a program
        text = SOURCE.encode()
        for edit in reversed(mutation.edits):
            text = text[: edit.start] + fill(edit.text, 1).encode() + text[edit.stop :]
        whole = f"#include <cstdint>\n{DECLARATION}\n" + text.decode()
        assert errors_of(parse(path, ["-std=c++20"], whole), path) == [], mutation


def test_a_changed_line_leaves_the_other_mutants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("clang.cindex")
    from mutants import prepare
    from mutants.sites import find

    monkeypatch.setattr(prepare, "find_refused", lambda file: [])  # all of them compile

    def draw(functions: list[int]) -> set[tuple[str, str, str]]:
        path = tmp_path / "a.cpp"
        path.write_text(
            "".join(f"int f{n}(int a, int b) {{ return a - {n} * b; }}\n" for n in functions)
        )
        file = prepare.File("a.cpp", [], path.read_text())
        for mutation in find(path, "a.cpp", ["-std=c++20"]):
            file.candidates.setdefault(mutation.line, []).append(mutation)
        with ThreadPoolExecutor(1) as pool:
            prepare.draw("room", [file], 20, seed=1, pool=pool)
        return {(m.kind, m.was, m.becomes) for m in file.chosen}

    first = draw(list(range(60)))
    second = draw([100, *range(30), *range(31, 60)])
    assert len(first) == 20
    assert len(first - second) <= 2
