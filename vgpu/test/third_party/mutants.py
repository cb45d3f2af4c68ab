#!/usr/bin/env python3
"""Runs the seeded faults and prints who noticed them: the detection table of `make test-long`.

    python mutants.py [PROGRAM …] [--operator NAME] [--jobs N] [--verbose]

Outcomes of a mutant:
  found      a checker reports it (for `far` and `misalign`: at the line of the fault)
  stopped    the launch ends with an error (a step limit, an illegal operand)
  values     no finding, but the results are wrong: not a checker's matter, the comparison sees it
             (for barriers, waits and fences it is: that counts as missed)
  never      the statement has no effect in this launch (a probe says so): the predicate skips
             nothing, the access, barrier, wait or fence is not executed
  redundant  nothing changes, and the text or `redundant.py` says why
  harmless   nothing changes; allowed for sampled faults only
  MISSED     nothing changes and nobody knows why; or a wrong access without its finding
"""

import argparse
import contextlib
import io
import os
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from driver import launch, summary
from mutations import AT_LINE, EXHAUSTIVE, SYNCHRONISATION, Mutant, mutants
from not_yet import what_lacks
from program import Program, kernel_lines
from programs import PROGRAMS
from redundant import reason_for

OUTCOMES = ("found", "stopped", "values", "never", "redundant", "harmless", "MISSED")


@dataclass
class Result:
    program: str
    key: str
    operator: str
    line: int
    was: str
    outcome: str
    kinds: tuple[str, ...]
    detail: str


def distinct_programs() -> list[Program]:
    """One program a kernel, of those that run; kernels that differ in the target count once."""
    chosen, seen = [], set()
    for program in PROGRAMS:
        lines = program.path.read_text().splitlines()
        body = "\n".join(lines[kernel_lines(lines, program.entry)])
        runs = not program.known_findings and not what_lacks(program.name)
        if runs and body not in seen:
            seen.add(body)
            chosen.append(program)
    return chosen


def _run(program: Program, text: str | None):
    """Findings, whether the values are right, and the error if the launch ended with one."""
    case = program.case(seed=1)
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # some kernels print
            findings = launch(program, case, ptx=text).findings
    except Exception as error:
        return [], False, str(error)
    try:
        case.verify()
    except AssertionError as error:
        return findings, False, str(error) if not findings else ""
    return findings, True, ""


def judge(program: Program, mutant: Mutant) -> Result:
    findings, values_right, error = _run(program, mutant.text)
    kinds = tuple(sorted({f.kind for f in findings}))
    detail = summary(findings) if findings else error
    if findings:
        at_line = any(f.ptx_line == mutant.line for f in findings)
        outcome = "MISSED" if mutant.operator in AT_LINE and not at_line else "found"
    elif error and not values_right and not error.startswith("argument"):
        outcome = "stopped"
    elif mutant.probe and not _run(program, mutant.probe)[0]:
        outcome = "never"
    elif mutant.operator in AT_LINE:
        outcome = "MISSED"
    elif not values_right:
        outcome = "MISSED" if mutant.operator in SYNCHRONISATION else "values"
    elif mutant.operator not in EXHAUSTIVE:
        outcome = "harmless"
    else:
        detail = mutant.reason or reason_for(program.name, mutant) or ""
        outcome = "redundant" if detail else "MISSED"
    return Result(
        program.name, mutant.key, mutant.operator, mutant.line, mutant.was, outcome, kinds, detail
    )


def judge_program(name: str, operator: str | None, deadline: float) -> list[Result]:
    """The mutants of a program; none of them where they cannot be done in time."""
    program = next(p for p in PROGRAMS if p.name == name)
    results = []
    for mutant in mutants(program):
        if operator in (None, mutant.operator):
            if time.time() > deadline:
                return []
            results.append(judge(program, mutant))
    return results


def false_alarms(programs: list[Program]) -> list[str]:
    """Correct programs on which a checker cries."""
    alarms = []
    for program in programs:
        findings, _, _ = _run(program, None)
        if findings:
            alarms.append(f"{program.name}: {summary(findings)}")
    return alarms


def table(results: list[Result]) -> str:
    """Operators by outcomes, and how many mutants each kind of finding showed itself in."""
    rows = defaultdict(Counter)
    kinds = Counter()
    for r in results:
        rows[r.operator][r.outcome] += 1
        kinds.update(r.kinds)
    lines = [f"{'fault':14}{'mutants':>8}" + "".join(f"{o:>11}" for o in OUTCOMES)]
    for operator, row in rows.items():
        counts = "".join(f"{row[o] or '.':>11}" for o in OUTCOMES)
        lines.append(f"{operator:14}{sum(row.values()):>8}{counts}")
    total = Counter(r.outcome for r in results)
    counts = "".join(f"{total[o] or '.':>11}" for o in OUTCOMES)
    lines.append(f"{'all':14}{len(results):>8}{counts}")
    lines += ["", "finding kind            mutants"]
    lines += [f"{kind:24}{count:>7}" for kind, count in sorted(kinds.items())]
    return "\n".join(lines)


@dataclass
class Run:
    results: list[Result]
    left_out: list[str]  # programs for which there was no time


def run(programs: list[Program], operator: str | None = None, jobs: int = 1) -> Run:
    """All mutants; TILEWRIGHT_LONG bounds the minutes, and what is left out then is told."""
    names = [p.name for p in programs]
    minutes = float(os.environ.get("TILEWRIGHT_LONG", "0")) or float("inf")
    again = [operator] * len(names), [time.time() + 60 * minutes] * len(names)
    if jobs == 1:
        judged = list(map(judge_program, names, *again))
    else:
        with ProcessPoolExecutor(jobs) as pool:
            judged = list(pool.map(judge_program, names, *again))
    have_some = {p.name for p in programs if operator or next(mutants(p), None)}
    return Run(
        [r for results in judged for r in results],
        [n for n, results in zip(names, judged, strict=True) if not results and n in have_some]
        if minutes != float("inf")
        else [],
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--operator")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="print every mutant")
    options = parser.parse_args()
    programs = [
        p for p in distinct_programs() if not options.programs or p.name in options.programs
    ]
    done = run(programs, options.operator, options.jobs)
    results = done.results
    for r in results:
        if options.verbose or r.outcome == "MISSED":
            print(f"{r.outcome:10}{r.program}:{r.line} {r.key} [{r.was}] {r.detail}")
    print(table(results))
    if done.left_out:
        print(f"TILEWRIGHT_LONG left out: {' '.join(done.left_out)}")
    alarms = false_alarms(programs)
    print(f"\nfalse alarms: {len(alarms)} of {len(programs)} unmutated kernels")
    print("\n".join(alarms))
    return 1 if alarms or any(r.outcome == "MISSED" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
