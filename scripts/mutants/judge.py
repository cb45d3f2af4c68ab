"""Which test kills which mutant.

The process loads the compiler and collects all tests, and runs nothing itself: it forks. First each
test runs by itself with no mutant on, which shows how long it takes and which mutants it reaches.
Then each mutant is switched on in a child that runs the tests that reach it, the likeliest first,
until one fails. What is left after a few seconds meets the rest of the suite together: a test runs
once with all of them on, and only if it fails it runs for each half. A mutant counts as killed only
by a test that fails with it alone. Everything is kept in files of JSON lines, so that a run goes on
where one ended.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import random
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mutants.children import run_in_child
from mutants.items import Item

#: Which test killed which mutant of an earlier run, on whatever machine.
KILLERS = Path(__file__).resolve().parent / "killers.txt"
#: As TwMutant.h has it.
MUTANTS = 1 << 15
#: A test that takes longer by itself is left out.
LONGEST = 20.0


class Table:
    """The file that all processes of a run share (TwMutant.h)."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(2 * MUTANTS))
        with path.open("r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), 2 * MUTANTS)

    def switch_on(self, *numbers: int) -> None:
        """These, and no others."""
        self.bytes[:MUTANTS] = bytes(MUTANTS)
        for number in numbers:
            self.bytes[number] = 1

    def is_on(self, number: int) -> bool:
        return bool(self.bytes[number])

    def reach(self, number: int) -> None:
        self.bytes[MUTANTS + number] = 1

    def reached(self) -> list[int]:
        return [n for n, byte in enumerate(self.bytes[MUTANTS:]) if byte]

    def clear(self) -> None:
        self.bytes[MUTANTS:] = bytes(MUTANTS)


@dataclass
class Known:
    """What a test does with no mutant on."""

    seconds: float
    passes: bool
    reached: frozenset[int]


def patience(known: Known) -> float:
    """Seconds after which a test hangs."""
    return 4 + 8 * known.seconds


@dataclass
class Options:
    folder: Path
    budget: float  # processor seconds of tests for each mutant
    until: float  # time.time()
    part: tuple[int, int] = (0, 1)
    baseline_seconds: float = 0.0
    #: The tests that killed mutants in an earlier run, by Judge.key.
    killers: dict[str, str] = field(default_factory=dict)
    rooms: list[str] = field(default_factory=list)


def read_lines(files: Iterable[Path]) -> Iterable[dict]:
    for file in files:
        for line in file.read_text().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the last line of a run that was stopped


def add_line(file: Path, entry: dict) -> None:
    """On a line of its own, also after one that was cut off."""
    is_cut = file.exists() and file.stat().st_size > 0 and not file.read_bytes().endswith(b"\n")
    with file.open("a") as stream:
        stream.write("\n" * is_cut + json.dumps(entry) + "\n")


def key_of(mutant: dict) -> str:
    """Of a mutant, in all runs: what changes how in which line of which file."""
    words = (mutant[word] for word in ("file", "text", "becomes"))
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:12]


def read_killers(file: Path) -> dict[str, str]:
    """Which test killed a mutant of an earlier run; lines of `KEY TEST`."""
    lines = file.read_text().splitlines() if file.exists() else []
    return dict(line.split(" ", 1) for line in lines)


def results_of(folder: Path) -> dict[int, dict]:
    """The last word on each mutant; one that is killed stays so."""
    last: dict[int, dict] = {}
    for entry in read_lines(sorted(folder.glob("results-*.jsonl"))):
        old = last.get(entry["id"])
        if old is None or (old["status"] != "killed" and entry["seconds"] >= old["seconds"]):
            last[entry["id"]] = entry
        if entry["status"] == "killed":
            last[entry["id"]] = entry
    for entry in read_lines(sorted(folder.glob("together-*.jsonl"))):
        for number in entry["ids"]:
            result = last.get(number)
            if result and result["status"] != "killed" and entry["name"] not in result["passed"]:
                result |= {"status": "survived", "tests": result["tests"] + 1}
                result["passed"].append(entry["name"])
    return last


class Judge:
    """One run, or one part of a run that has several processes."""

    def __init__(self, mutants: list[dict], items: list[Item], table: Table, options: Options):
        self.mutants, self.table, self.options = mutants, table, options
        self.items = {item.name: item for item in items}
        self.known: dict[str, Known] = {}
        self.kills: Counter[tuple[str, str]] = Counter()
        self.runs: Counter[tuple[str, str]] = Counter()
        options.folder.mkdir(parents=True, exist_ok=True)
        self._read_known()

    # ---- With no mutant on ----

    def _read_known(self) -> None:
        for entry in read_lines(sorted(self.options.folder.glob("reach-*.jsonl"))):
            if entry["name"] in self.items:
                self.known[entry["name"]] = Known(
                    entry["seconds"], entry["passes"], frozenset(entry["reached"])
                )

    def measure(self, names: list[str]) -> None:
        """Runs those tests by themselves that have not been, while there is time."""
        spent = 0.0
        for at, name in enumerate(names):
            if name in self.known or at % self.options.part[1] != self.options.part[0]:
                continue
            if spent > self.options.baseline_seconds or time.time() > self.options.until:
                break
            spent += self._measure(name)

    def _measure(self, name: str) -> float:
        """Runs a test by itself; its seconds."""
        self.table.switch_on()
        self.table.clear()
        seen = run_in_child([self.items[name]], [LONGEST])
        reached = self.table.reached()
        self.known[name] = Known(seen.seconds, not seen.how, frozenset(reached))
        entry = {"name": name, "seconds": round(seen.seconds, 3), "passes": not seen.how,
                 "reached": reached}  # fmt: skip
        add_line(self.options.folder / f"reach-{self.options.part[0]}.jsonl", entry)
        return seen.seconds

    def broken(self) -> list[str]:
        """The tests that fail with no mutant on: they need what this build lacks, or else the
        sources were changed where no mutant is on, and all answers are worth nothing."""
        return sorted(name for name, known in self.known.items() if not known.passes)

    # ---- With one on ----

    def order(self, mutant: dict, left_out: set[str]) -> list[str]:
        """The tests that reach a mutant, likely and quick ones first, of all families in turn. The
        one that killed it in an earlier run comes before all."""
        earlier = self.options.killers.get(key_of(mutant))
        ranked = []
        for name, known in self.known.items():
            if known.passes and mutant["id"] in known.reached and name not in left_out:
                key = (self.items[name].family, mutant["file"])
                chance = (self.kills[key] + 0.3) / (self.runs[key] + 1.0)
                ranked.append(((known.seconds + 0.02) / chance, name))
        ranked.sort()
        met: Counter[str] = Counter()
        spread = []
        for cost, name in ranked:
            family = self.items[name].family
            spread.append((cost * 1.15 ** met[family], name))
            met[family] += 1
        return [name for _, name in sorted(spread, key=lambda e: (e[1] != earlier, *e))]

    def judge(self, mutant: dict, before: dict | None) -> dict:
        """Runs tests until one fails or the budget is spent."""
        done = list(before.get("passed", ())) if before else []
        spent = before["seconds"] if before else 0.0
        names = self.order(mutant, set(done))
        chosen, cost = [], spent
        for name in names:
            if cost > self.options.budget:
                break
            chosen.append(name)
            cost += self.known[name].seconds
        self.table.switch_on(mutant["id"])
        try:
            seen = run_in_child(
                [self.items[name] for name in chosen],
                [patience(self.known[name]) for name in chosen],
            )
        finally:
            self.table.switch_on()
        for name in chosen[: seen.passed + bool(seen.how)]:
            self.runs[self.items[name].family, mutant["file"]] += 1
        entry = {"id": mutant["id"], "tests": len(done) + seen.passed + bool(seen.how),
                 "seconds": round(cost, 2)}  # fmt: skip
        if seen.how:
            name = chosen[seen.passed]
            self.kills[self.items[name].family, mutant["file"]] += 1
            return {**entry, "status": "killed", "how": seen.how, "by": name}
        passed = done + chosen
        left = len(names) - len(chosen)
        status = "survived" if passed else "unreached"
        return {**entry, "status": status, "left": left, "passed": passed}

    def run(self) -> None:
        """Judges mutants in a random order, so that all rooms advance alike."""
        todo = [
            m for m in self.mutants if not self.options.rooms or m["room"] in self.options.rooms
        ]
        random.Random(3).shuffle(todo)
        part, parts = self.options.part
        own = self.options.folder / f"results-{part}.jsonl"
        before = results_of(self.options.folder)
        for mutant in (m for m in todo if m["id"] % parts == part):
            old = before.get(mutant["id"])
            if time.time() > self.options.until:
                break
            if old and (old["status"] == "killed" or self._has_nothing_new(mutant, old)):
                continue
            entry = self.judge(mutant, old)
            add_line(own, entry)

    def _has_nothing_new(self, mutant: dict, old: dict) -> bool:
        if old["status"] == "survived" and old["seconds"] > self.options.budget:
            return True
        return not self.order(mutant, set(old.get("passed", ())))

    # ---- With several on ----

    def run_together(self, names: list[str]) -> None:
        """Each test with all mutants on that it reaches and nothing has killed; a test that has not
        been measured runs by itself first."""
        results = results_of(self.options.folder)
        alive = {n: set(r["passed"]) for n, r in results.items() if r["status"] != "killed"}
        for at, name in enumerate(names):
            if at % self.options.part[1] != self.options.part[0]:
                continue
            if time.time() > self.options.until:
                break
            if name not in self.known:
                self._measure(name)
            known = self.known[name]
            if not known.passes:
                continue
            group = [n for n in sorted(known.reached & alive.keys()) if name not in alive[n]]
            for number in self._meet(name, group):
                del alive[number]

    def _meet(self, name: str, group: list[int]) -> list[int]:
        """Those of a group that a test kills."""
        if not group:
            return []
        killed = []
        self.table.clear()
        self.table.switch_on(*group)
        try:
            seen = run_in_child([self.items[name]], [patience(self.known[name])])
        finally:
            self.table.switch_on()
        own = self.options.folder
        if not seen.how:
            # What one of them skips, the others may not have reached.
            met = sorted(set(group) & set(self.table.reached()))
            add_line(own / f"together-{self.options.part[0]}.jsonl", {"name": name, "ids": met})
            masked = sorted(set(group) - set(met))
            return self._meet(name, masked) if met else []
        if len(group) > 1:
            for half in (group[::2], group[1::2]):
                killed += self._meet(name, half)
            return killed
        result = results_of(own)[group[0]]
        entry = {"id": group[0], "tests": result["tests"] + 1, "seconds": result["seconds"],
                 "status": "killed", "how": seen.how, "by": name}  # fmt: skip
        add_line(own / f"results-{self.options.part[0]}.jsonl", entry)
        return group
