"""Many seeds, in processes that may crash or hang.

A campaign hands chunks of seeds to worker processes (this package with `--worker`), which print a
line of JSON before and after each program. A worker that dies or stays silent too long is
replaced, and the program it was at is a failure of its own kind.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from differential.coverage import REQUIRED, TOLD, Cell, Coverage, cells_of, widened
from differential.kinds import KINDS
from differential.witnesses import ENGINES, INTERPRETERS, Verdict, examine

#: A program that computes longer hangs. Processor time counts: the machine may be busy with other
#: things. One that waits for something uses none and gets longer.
PROGRAM_SECONDS = 120.0
WAIT_SECONDS = 20 * PROGRAM_SECONDS
CHUNK = 20
#: What a worker process runs.
WORKER = Path(__file__).parent


@dataclass(frozen=True)
class Plan:
    """What a campaign does with each seed: makes a program of `kind`, and runs it on `engines`;
    where none are named, on one of the CPU's variants and one GPU in turn (programs of blocks on
    sm_90a in both modes, those of pipelines also without producers, and in the interpreter as
    scheduled for it), or, if `thorough`, on all."""

    kind: str = "tiles"
    engines: tuple[str, ...] = ()
    thorough: bool = False

    def engines_of(self, seed: int) -> list[str]:
        if self.engines or self.thorough:
            return list(self.engines or ENGINES)
        processor = ("cpu", "cpu-avx2", "cpu-1", "cpu-amx")[seed % 4]
        if self.kind == "pipelines":  # both modes must agree
            schedule = ("schedule", "schedule-late", "schedule-80")[seed % 3]
            return [processor, "sm_90a", "sm_90a-late", "sm_90a-threads", schedule]
        if self.kind == "blocks":
            return [processor, ("sm_80", "sm_90")[seed // 4 % 2], "sm_90a", "sm_90a-late"]
        turned = ["interp-turned"] if self.kind == "threads" else []
        return [
            *turned,
            processor,
            ("sm_80", "sm_90", "sm_90a", "sm_90a-late")[seed // 4 % 4],
        ]

    def options(self) -> list[str]:
        """The same plan, on the command line of a worker."""
        return [
            *(["--kind", self.kind] if self.kind != "tiles" else []),
            *(["--engines", ",".join(self.engines)] if self.engines else []),
            *(["--thorough"] if self.thorough else []),
        ]


TILES = Plan()


@dataclass
class Outcome:
    """What a campaign saw."""

    programs: int = 0
    exact: int = 0
    tally: Counter[str] = field(default_factory=Counter)
    failures: dict[int, Verdict] = field(default_factory=dict)
    ill_formed: dict[int, str] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    #: Programs whose code had something on an engine: "bulk copies and wgmma on sm_90a".
    code: Counter[str] = field(default_factory=Counter)

    def add(
        self, seed: int, exact: bool, verdicts: list[Verdict], cells: Iterable[Cell] = ()
    ) -> None:
        self.programs += 1
        self.exact += exact
        cells = [*map(tuple, cells)]
        if any(verdict.kind == "agree" for verdict in verdicts):
            self.coverage.add("interp", cells)
        for verdict in verdicts:
            if verdict.kind == "agree" and verdict.engine not in INTERPRETERS:
                self.coverage.add(verdict.engine, [*cells, *map(tuple, verdict.code)])
                self.code.update(f"{what} on {verdict.engine}" for cell, what in TOLD.items()
                                 if cell in map(tuple, verdict.code))  # fmt: skip
            self.tally[f"{verdict.engine} {verdict.kind}"] += 1
            if verdict.kind == "ill-formed":
                self.ill_formed[seed] = verdict.text
            if verdict.is_failure:
                self.failures.setdefault(seed, verdict)

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {what}" for what, n in sorted(self.tally.items()))
        return (
            f"{self.programs} programs ({self.exact} exact), {len(self.failures)} failed: {counts}"
        )


# ---- Coverage ----


#: The required cells that a program draws, by its kind and seed.
Drawn = dict[tuple[str, int], frozenset[Cell]]


def draw(counts: dict[str, int]) -> Drawn:
    """What the first programs of each kind draw, without running them."""
    drawn = {}
    for kind, count in counts.items():
        for seed in range(count):
            made = KINDS[kind].emit(KINDS[kind].generate(seed))
            drawn[kind, seed] = frozenset(widened(cells_of(made)) & REQUIRED)
    return drawn


def covering(drawn: Drawn, wanted: Iterable[Cell]) -> tuple[dict[str, list[int]], set[Cell]]:
    """Some seeds whose programs together draw every wanted cell, as few as a greedy choice finds;
    and the cells that no seed draws."""
    left, chosen = set(wanted), defaultdict(list)
    while left:
        best = max(drawn, key=lambda which: len(drawn[which] & left))
        if not drawn[best] & left:
            break
        left -= drawn[best]
        chosen[best[0]].append(best[1])
    return dict(chosen), left


# ---- In the worker ----


def work(seeds: Iterable[int], plan: Plan) -> None:
    """Examines seeds and prints what was seen, for the campaign to read."""
    for seed in seeds:
        print(json.dumps({"begin": seed}), flush=True)
        program = KINDS[plan.kind].generate(seed)
        assembles = plan.thorough or seed % 8 == 0  # ptxas takes as long as all the rest
        verdicts = examine(program, plan.engines_of(seed), assembles=assembles)
        seen = [(v.kind, v.engine, v.text, v.code) for v in verdicts]
        cells = sorted(cells_of(KINDS[plan.kind].emit(program)))
        entry = {"end": seed, "exact": program.exact, "seen": seen, "cells": cells}
        print(json.dumps(entry), flush=True)


# ---- In the campaign ----


def run(
    seeds: list[int], plan: Plan = TILES, jobs: int | None = None, minutes: float | None = None,
    report=None,
) -> Outcome:  # fmt: skip
    """Examines all seeds, or as many as the minutes allow. `report` is called with each failure."""
    outcome = Outcome()
    deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
    chunks: queue.Queue[list[int]] = queue.Queue()
    for start in range(0, len(seeds), CHUNK):
        chunks.put(seeds[start : start + CHUNK])
    lock = threading.Lock()

    def feed() -> None:
        while time.monotonic() < deadline:
            try:
                chunk = chunks.get_nowait()
            except queue.Empty:
                return
            _run_chunk(chunk, plan, outcome, lock, report)

    threads = [threading.Thread(target=feed) for _ in range(jobs or len(os.sched_getaffinity(0)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcome


def _run_chunk(
    chunk: list[int], plan: Plan, outcome: Outcome, lock: threading.Lock, report
) -> None:
    todo = list(chunk)
    while todo:
        for seed, exact, verdicts, cells in _run_worker(todo, plan):
            todo.remove(seed)
            with lock:
                before = len(outcome.failures)
                outcome.add(seed, exact, verdicts, cells)
                if report and len(outcome.failures) > before:
                    report(seed, outcome.failures[seed])


class _Watch:
    """The time since a worker was heard of."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.start = time.monotonic()
        self.before = self._processor_seconds()

    def _processor_seconds(self) -> float:
        """Of the process and the children that ended (`man 5 proc`); 0 if it is gone."""
        try:
            text = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return 0.0
        fields = text[text.rindex(")") + 2 :].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def used(self) -> float:
        return self._processor_seconds() - self.before

    def is_over(self) -> bool:
        return self.used() > PROGRAM_SECONDS or time.monotonic() - self.start > WAIT_SECONDS


def _run_worker(seeds: list[int], plan: Plan):
    """One process over `seeds`; ends early, with a verdict, where the process does."""
    command = [sys.executable, str(WORKER), "--worker", *map(str, seeds), *plan.options()]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        lines: queue.Queue[str] = queue.Queue()
        errors: list[str] = []
        reader = threading.Thread(target=lambda: [*map(lines.put, process.stdout), lines.put("")])
        drain = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        drain.start()
        current = seeds[0]
        watch = _Watch(process.pid)
        while True:
            try:
                line = lines.get(timeout=1)
            except queue.Empty:
                if not watch.is_over():
                    continue
                process.kill()
                text = f"no answer in {watch.used():.0f} s of processor time"
                yield current, False, [Verdict("timeout", "", text)], []
                break
            if not line:
                break
            watch = _Watch(process.pid)
            entry = json.loads(line)
            if "begin" in entry:
                current = entry["begin"]
            else:
                verdicts = [Verdict(*seen) for seen in entry["seen"]]
                yield entry["end"], entry["exact"], verdicts, entry.get("cells", [])
                current = None
        process.wait()
        drain.join()
        reader.join()
        if process.returncode and process.returncode != -9 and current is not None:
            last = errors[0].strip().splitlines()[-15:]
            text = f"the process ended with {process.returncode}: " + "\n".join(last)
            yield current, False, [Verdict("crash", "", text)], []
