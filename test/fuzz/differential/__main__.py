"""Random tile programs on every engine.

    python test/fuzz/differential --seed 17            one program on all engines; shrinks a failure
    python test/fuzz/differential --seed 17 --print    the program
    python test/fuzz/differential --seeds 0:500        many, a failure shrunk into failures/
    python test/fuzz/differential --seeds 0:20000 --minutes 30 --resume   from where the last ended
    python test/fuzz/differential --kind threads --seeds 0:500   programs that name their threads
    python test/fuzz/differential --kind pipelines --seeds 0:500:2  with bulk copies and wgmma
    python test/fuzz/differential --file kernel.py     a program that was emitted and perhaps edited
    python test/fuzz/differential --coverage 500       the cells that 500 of each kind draw

The exit status is 1 if an engine differed, found something or refused what it must accept.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from differential import campaign, shrink
from differential.coverage import Coverage, cells_of
from differential.kinds import KINDS
from differential.program import Program
from differential.progress import Progress
from differential.witnesses import ENGINES, Verdict, examine, examine_file, find_engine


def shrunk(program: Program, verdict: Verdict, options: argparse.Namespace) -> Program:
    """A small program that fails on the same engine in the same way."""
    engines = [verdict.engine] if find_engine(verdict.engine) else options.engines

    def fails(candidate: Program) -> bool:
        return any(v.kind == verdict.kind for v in examine(candidate, engines))

    return shrink.shrink(program, fails, options.shrink, KINDS[options.kind].is_sound)


def one_seed(options: argparse.Namespace) -> int:
    program = KINDS[options.kind].generate(options.seed)
    if options.print:
        print(KINDS[options.kind].emit(program))
        return 0
    verdicts = examine(program, options.engines)
    print(*verdicts, sep="\n")
    failures = [v for v in verdicts if v.is_failure]
    if failures:
        write_failure(program, failures[0], options)
    return 1 if failures else 0


def write_failure(program: Program, verdict: Verdict, options: argparse.Namespace) -> None:
    """The failing program, shrunk unless it takes its process down, as a file."""
    if verdict.kind not in ("crash", "timeout") and options.shrink:
        program = shrunk(replace(program), verdict, options)
    options.failures.mkdir(parents=True, exist_ok=True)
    path = options.failures / f"{options.kind}_{program.seed}_{verdict.engine or verdict.kind}.py"
    path.write_text(KINDS[options.kind].emit(program, str(path)))
    print(f"{program.seed}: {verdict}\n    kernel: {path}", flush=True)


def show_coverage(count: int) -> int:
    """What the first programs of each kind draw, without running them."""
    seen = Coverage()
    for name, kind in KINDS.items():
        plan = campaign.Plan(name)
        for seed in range(count):
            cells = cells_of(kind.emit(kind.generate(seed)))
            for engine in ("interp", *plan.engines_of(seed)):
                seen.add(engine, cells)
    empty = [text for text in seen.empty() if "instruction" not in text]
    print(seen.table(), f"\n{len(empty)} cells are empty", *empty, sep="\n")
    return 0


def plan_of(options: argparse.Namespace) -> campaign.Plan:
    return campaign.Plan(options.kind, tuple(options.engines or ()), options.thorough)


def many_seeds(options: argparse.Namespace) -> int:
    start, stop, *step = (int(part) for part in options.seeds.split(":"))

    def report(seed: int, verdict: Verdict) -> None:
        print(f"{seed}: {verdict}", flush=True)

    progress = Progress.load(start, stop) if options.resume else None
    outcome = campaign.run(
        list(range(progress.next if progress else start, stop, *step)),
        plan_of(options),
        options.jobs,
        options.minutes,
        report,
    )
    print(outcome)
    print(f"{len(outcome.coverage.counts['interp'])} cells of the language were exercised")
    for name, count in sorted(outcome.code.items()):
        print(f"{count} programs have {name}")
    if progress:
        progress.add(outcome)
        print(progress)
    for seed, text in outcome.ill_formed.items():
        print(f"{seed}: ill-formed: {text.splitlines()[0]}")
    for seed, verdict in outcome.failures.items():
        write_failure(KINDS[options.kind].generate(seed), verdict, options)
    return 1 if outcome.failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="differential",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--seed", type=int, help="one program")
    what.add_argument("--seeds", metavar="A:B[:STEP]", help="the programs A to B-1")
    what.add_argument("--file", type=Path, help="an emitted program")
    what.add_argument("--worker", nargs="+", type=int, help=argparse.SUPPRESS)
    what.add_argument("--coverage", type=int, metavar="N", help="the cells of N programs a kind")
    parser.add_argument("--print", action="store_true", help="show the program of --seed")
    parser.add_argument("--kind", choices=KINDS, default="tiles", help="of programs")
    parser.add_argument(
        "--engines",
        type=lambda text: text.split(","),
        help=f"{', '.join(ENGINES)}, and devices (vgpu:sm_120)",
    )
    parser.add_argument("--thorough", action="store_true", help="all engines for each seed")
    parser.add_argument("--resume", action="store_true", help="go on where --seeds A:… ended")
    parser.add_argument("--minutes", type=float, help="stop handing out seeds after this time")
    parser.add_argument("--jobs", type=int, help="processes; default: one a core")
    parser.add_argument("--shrink", type=float, default=120, help="seconds for a failure; 0: none")
    parser.add_argument("--failures", type=Path, default=Path("failures"), help="where they go")
    options = parser.parse_args()
    if unknown := [name for name in options.engines or () if find_engine(name) is None]:
        parser.error(f"no engine {', '.join(unknown)}; there are {', '.join(ENGINES)}, and devices")
    if options.resume and (options.kind != "tiles" or options.engines):
        parser.error("--resume counts the programs of tiles, on the engines in turn")
    if options.coverage:
        return show_coverage(options.coverage)
    if options.worker:
        campaign.work(options.worker, plan_of(options))
        return 0
    if options.file:
        exact = "exact mode" in options.file.read_text()
        verdicts = examine_file(options.file, exact, options.engines)
        print(*verdicts, sep="\n")
        return 1 if any(v.is_failure for v in verdicts) else 0
    return many_seeds(options) if options.seeds else one_seed(options)


if __name__ == "__main__":
    sys.exit(main())
