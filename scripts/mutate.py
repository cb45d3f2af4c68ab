#!/usr/bin/env python3
"""Mutates our own lowerings and counts which mistakes the tests find.

usage: scripts/mutate.py draw ROOM... [--count 100] [--seed 0]    draw, rewrite and build
       scripts/mutate.py run [--minutes N] [--fuzz 40]            run until killed; goes on where it ended
       scripts/mutate.py report                                   the table, and who survived

A room is a folder of lib/ (Access, Codegen/Cpu, Transforms/Gpu). `draw` copies the sources to
build-mutants/tree, picks lines by seed, each as likely as the other, and rewrites one place of each
such that TILEWRIGHT_MUTANT=17 makes mistake 17 there: one build holds all of them. What does not
compile is drawn out again. `run` first notes which tests come to which mutants, then runs each
mutant through the tests that come to it, the quickest first, until one fails. The record is
build-mutants/mutants.json; a mutant is killed, survives, or is never reached, which counts as
survival.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build-mutants"
TREE = WORK / "tree"
RECORD = WORK / "mutants.json"
PYTHON = ROOT / ".venv" / "bin" / "python"
#: A test that takes this much longer than without a mutant hangs.
PATIENCE = 10.0


@dataclass(frozen=True)
class Site:
    """A place of a file and what stands there instead; `{id}` is the number of the mutant."""

    start: int
    stop: int
    kind: str
    text: str


# ---- Mistakes ----

COMPARISONS = {"<": "<", "<=": "l", ">": ">", ">=": "g", "==": "=", "!=": "!"}
ARITHMETIC = {"+": "+", "-": "-", "*": "*", "/": "/", "%": "%"}
#: Signed and unsigned twins among MLIR's operations and predicates.
TWINS = [("ExtSIOp", "ExtUIOp"), ("SExtOp", "ZExtOp"), ("DivSIOp", "DivUIOp"),
         ("RemSIOp", "RemUIOp"), ("ShRSIOp", "ShRUIOp"), ("AShrOp", "LShrOp"),
         ("MinSIOp", "MinUIOp"), ("MaxSIOp", "MaxUIOp"), ("SIToFPOp", "UIToFPOp"),
         ("FPToSIOp", "FPToUIOp"), ("SDivOp", "UDivOp"), ("SRemOp", "URemOp"),
         ("AddIOp", "SubIOp"), ("AndIOp", "OrIOp"), ("MinimumFOp", "MaximumFOp"),
         ("MinNumFOp", "MaxNumFOp"), ("AddOp", "SubOp"), ("AndOp", "OrOp")]  # fmt: skip
TWIN = {a: b for one, other in TWINS for a, b in ((one, other), (other, one))}
PREDICATES = {"slt": "ult", "sle": "ule", "sgt": "ugt", "sge": "uge", "ult": "ule", "ule": "ult",
              "ugt": "uge", "uge": "ugt", "eq": "ne", "ne": "eq"}  # fmt: skip
#: Operations whose last two operands may not change places.
ORDERED = ("SubIOp", "SubFOp", "DivSIOp", "DivUIOp", "DivFOp", "RemSIOp", "RemUIOp", "ShLIOp",
           "ShRSIOp", "ShRUIOp", "CmpIOp", "CmpFOp", "SelectOp", "SubOp", "UDivOp", "SDivOp",
           "URemOp", "SRemOp", "ShlOp", "LShrOp", "AShrOp", "ICmpOp", "FCmpOp")  # fmt: skip
#: Lines on which a call is no constant expression, or nothing is computed.
LEFT_OUT = re.compile(
    r"^\s*(#|//|case |template|using |namespace|static_assert)|constexpr|\boperator\b"
)


def code_of(text: str) -> str:
    """The text with comments and literals of text blanked, of the same length."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def closing(code: str, start: int) -> int:
    """The place of the bracket that closes the one at `start`; -1 if there is none."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return -1


def arguments(code: str, start: int, stop: int) -> list[tuple[int, int]]:
    """The places of the arguments between two brackets."""
    ends, depth = [start], 0
    for at in range(start + 1, stop):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if code[at] == "," and depth == 0:
            ends.append(at)
    ends.append(stop)
    return [(a + 1, b) for a, b in zip(ends, ends[1:], strict=False)]


def operator_sites(code: str) -> Iterator[Site]:
    """Comparisons and arithmetic: another operator of the same precedence takes its place."""
    for match in re.finditer(r"(?<=[\w)\]]) (<=|>=|==|!=|<|>|\+|-|\*|/|%) (?=[\w(!-])", code):
        sign = match[1]
        kind = COMPARISONS.get(sign) or ARITHMETIC[sign]
        named = f" {sign} tw::Operator<'{kind}'>{{{{{{id}}}}}} {sign} "
        yield Site(match.start(), match.end(), f"operator {sign}", named)


def number_sites(code: str, rng: random.Random) -> Iterator[Site]:
    """A number that is one too large or too small, or of the other width."""
    for match in re.finditer(r"(?:(?<=[-+*/%<>=] )|(?<=[(,] )|(?<=\())(\d+)(?=[;,) ])", code):
        value = int(match[1])
        if value in (8, 16, 32, 64) and code[match.start() - 1] == "(":
            other, kind = value * 2 if value < 64 else 32, "width"
        else:
            other, kind = value + (1 if value == 0 or rng.random() < 0.5 else -1), "number"
        yield Site(*match.span(1), kind, f"(tw::mutant({{id}}) ? {other} : {value})")


def name_sites(code: str) -> Iterator[Site]:
    """Predicates and widths by name."""
    for match in re.finditer(
        r"((?:\w+::)*(?:P|Predicate|CmpIPredicate|ICmpPredicate)::)(\w+)", code
    ):
        if match[2] in PREDICATES:
            text = f"(tw::mutant({{id}}) ? {match[1]}{PREDICATES[match[2]]} : {match[0]})"
            yield Site(*match.span(), "predicate", text)
    for match in re.finditer(r"\bgetI(8|16|32|64)Type\(\)", code):
        before = re.search(r"[\w.\->()]*$", code[: match.start()])[0]
        other = {"8": "16", "16": "32", "32": "64", "64": "32"}[match[1]]
        start = match.start() - len(before)
        text = f"(tw::mutant({{id}}) ? {before}getI{other}Type() : {before}{match[0]})"
        if before.count("(") == before.count(")"):
            yield Site(start, match.end(), "width", text)


def operation_sites(code: str, text: str) -> Iterator[Site]:
    """Operations that are made: their twin of the other signedness, or operands exchanged."""
    for match in re.finditer(r"((?:\w+::)*)(\w+Op)::create\(", code):
        stop = closing(code, match.end() - 1)
        if stop < 0:
            continue
        made = text[match.end() : stop]
        prefix, name = match[1], match[2]
        if name in TWIN:
            twin, own = (f"mlir::Value({prefix}{n}::create({made}))" for n in (TWIN[name], name))
            named = f"(tw::mutant({{id}}) ? {twin} : {own})".replace("{", "{{").replace("}", "}}")
            named = named.replace("{{id}}", "{id}")
            yield Site(match.start(), stop + 1, "twin", named)
        parts = arguments(code, match.end() - 1, stop)
        if name in ORDERED and len(parts) >= 3:
            (a, b), (c, d) = parts[-2:]
            x, y = (
                text[s:e].strip().replace("{", "{{").replace("}", "}}") for s, e in ((a, b), (c, d))
            )
            swapped = (f" tw::mutant({{id}}) ? mlir::Value({y}) : mlir::Value({x}),"
                       f" tw::mutant({{id}}) ? mlir::Value({x}) : mlir::Value({y})")  # fmt: skip
            yield Site(a, d, "swapped operands", swapped)


def condition_sites(code: str, text: str, rng: random.Random) -> Iterator[Site]:
    """A condition that always holds, or never."""
    for match in re.finditer(r"\bif \(", code):
        stop = closing(code, match.end() - 1)
        condition = text[match.end() : stop]
        if stop < 0 or ";" in condition or re.search(r"[^=!<>]=[^=]", condition):
            continue
        inner = condition.replace("{", "{{").replace("}", "}}")
        always = rng.choice(("true", "false"))
        yield Site(match.end(), stop, f"condition {always}",
                   f"tw::mutant({{id}}) ? {always} : static_cast<bool>({inner})")  # fmt: skip


def sites_of(text: str, rng: random.Random) -> dict[int, list[Site]]:
    """The places that can be mutated, by line."""
    code = code_of(text)
    starts = [0, *(m.end() for m in re.finditer("\n", code))]
    lines = code.split("\n")
    found: dict[int, list[Site]] = {}
    every = (*operator_sites(code), *number_sites(code, rng), *name_sites(code),
             *operation_sites(code, text), *condition_sites(code, text, rng))  # fmt: skip
    import bisect

    for site in every:
        line = bisect.bisect_right(starts, site.start) - 1
        is_code = lines[line].startswith((" ", "\t")) and not LEFT_OUT.search(lines[line])
        if is_code:
            found.setdefault(line, []).append(site)
    return found


# ---- The record ----


@dataclass
class Mutant:
    """One mistake. `state`: "drawn", "refused" (does not compile), "killed", "survived"."""

    id: int
    room: str
    file: str
    line: int
    kind: str
    before: str
    start: int
    stop: int
    text: str
    state: str = "drawn"
    killer: str = ""


@dataclass
class Record:
    """All mutants, and which tests come to which."""

    seed: int
    mutants: list[Mutant]
    #: test: [seconds without a mutant, numbers of the mutants that it comes to]
    reached: dict[str, tuple[float, list[int]]] = field(default_factory=dict)

    @classmethod
    def load(cls) -> Record:
        data = json.loads(RECORD.read_text())
        return cls(data["seed"], [Mutant(**m) for m in data["mutants"]], data["reached"])

    def save(self) -> None:
        part = RECORD.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1) + "\n")
        part.replace(RECORD)


# ---- Drawing ----


def copy_tree() -> None:
    """The sources of the work tree, changed ones only, so that builds stay quick."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.splitlines()  # fmt: skip
    for name in names:
        source, dest = ROOT / name, TREE / name
        if source.is_file() and (not dest.exists() or source.read_bytes() != dest.read_bytes()):
            dest.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, dest)
            shutil.copymode(source, dest)
    if not (TREE / ".venv").exists():
        (TREE / ".venv").symlink_to(ROOT / ".venv")


def draw(rooms: list[str], count: int, seed: int) -> Record:
    """Lines, each as likely as the other, and one place of each."""
    mutants: list[Mutant] = []
    for room in rooms:
        rng = random.Random(f"{seed} {room}")
        places = []
        for path in sorted((ROOT / "lib" / room).rglob("*.cpp")):
            found = sites_of(path.read_text(), rng)
            places += [(path, line, sites) for line, sites in sorted(found.items())]
        if not places:
            sys.exit(f"mutate: error: no code in lib/{room}")
        taken: dict[Path, list[Site]] = {}
        rng.shuffle(places)
        for path, line, sites in places:
            site = rng.choice(sites)
            others = taken.setdefault(path, [])
            if any(site.start < o.stop and o.start < site.stop for o in others):
                continue
            others.append(site)
            text = path.read_text()
            mutants.append(Mutant(
                len(mutants) + 1, room, str(path.relative_to(ROOT)), line + 1, site.kind,
                text.split("\n")[line].strip(), site.start, site.stop, site.text,
            ))  # fmt: skip
            if sum(m.room == room for m in mutants) >= count:
                break
    return Record(seed, mutants)


def rewrite(record: Record) -> None:
    """The mutants that are not refused, in the copied sources."""
    header = ROOT / "scripts" / "mutation" / "Mutants.h"
    for file in {m.file for m in record.mutants}:
        text = (ROOT / file).read_text()
        some = [m for m in record.mutants if m.file == file and m.state != "refused"]
        for m in sorted(some, key=lambda m: -m.start):
            text = text[: m.start] + m.text.format(id=m.id) + text[m.stop :]
        text = f'#include "{header}"\n#line 1 "{ROOT / file}"\n{text}'
        if (TREE / file).read_text() != text:
            (TREE / file).write_text(text)


def build(record: Record) -> None:
    """Builds the copied tree; mutants of lines that do not compile are refused."""
    if not (TREE / "build" / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=TREE, check=True)
    for _ in range(6):
        rewrite(record)
        done = subprocess.run(["cmake", "--build", "build", "-j", "2", "--", "-k", "0"], cwd=TREE,
                              capture_output=True, text=True, check=False)  # fmt: skip
        if done.returncode == 0:
            record.save()
            return
        wrong = {(str(Path(f).relative_to(ROOT)), int(line))
                 for f, line in re.findall(r"^(\S+?\.cpp):(\d+):\d+: (?:error|note)", done.stdout, re.M)
                 if f.startswith(str(ROOT))}  # fmt: skip
        refused = [m for m in record.mutants if m.state == "drawn"
                   and any((m.file, m.line + d) in wrong for d in range(-1, 6))]  # fmt: skip
        if not refused:
            sys.exit("mutate: error: the tree does not build\n" + done.stdout[-4000:])
        for m in refused:
            m.state = "refused"
    sys.exit("mutate: error: the tree does not build after six rounds")


# ---- Running ----


def commands(fuzz: int) -> dict[str, list[str]]:
    """The tests, by name: lit and unit tests, programs, random programs."""
    found: dict[str, list[str]] = {}
    lit = [str(PYTHON), "-m", "lit.main", "-q", "-j1"]
    for room in sorted((TREE / "test" / "lit").iterdir()):
        if room.is_dir():
            found[f"lit {room.name}"] = [*lit, f"build/test/lit/{room.name}"]
    for binary in sorted((TREE / "build" / "bin").glob("*Tests")):
        found[f"unit {binary.name}"] = [str(binary), "--gtest_brief=1"]
    pytest = [str(PYTHON), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    for file in sorted((TREE / "test" / "programs").glob("test_*.py")):
        if file.name != "test_differential.py":
            found[f"program {file.stem}"] = [*pytest, str(file)]
    for file in sorted((TREE / "test" / "conformance").glob("test_*.py")):
        found[f"conformance {file.stem}"] = [*pytest, str(file)]
    for kind in ("tiles", "threads", "values"):
        found[f"fuzz {kind}"] = [str(PYTHON), "test/fuzz/differential", "--kind", kind, "--seeds",
                                 f"0:{fuzz}", "--jobs", "1", "--shrink", "0"]  # fmt: skip
    return found


def execute(command: list[str], seconds: float | None, **variables: str) -> tuple[bool, float]:
    """Whether a test passes, and how long it takes."""
    environment = {**os.environ, "PYTHONPATH": f"{TREE}/python:{TREE}/build/python",
                   "TILEWRIGHT_CACHE": "0", **variables}  # fmt: skip
    start = time.monotonic()
    with subprocess.Popen(command, cwd=TREE, env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:  # fmt: skip
        try:
            passed = process.wait(timeout=seconds) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            passed = False
    return passed, time.monotonic() - start


def note_reached(record: Record, fuzz: int) -> None:
    """Runs every test without a mutant, and notes which mutants it comes to."""
    log = WORK / "reached.txt"
    for name, command in commands(fuzz).items():
        if name in record.reached:
            continue
        log.unlink(missing_ok=True)
        passed, seconds = execute(command, None, TILEWRIGHT_MUTANT_LOG=str(log))
        ids = sorted({int(line) for line in log.read_text().split()}) if log.exists() else []
        print(f"{name}: {'passed' if passed else 'FAILED'}, {seconds:.1f} s, {len(ids)} mutants")
        record.reached[name] = (seconds, ids if passed else [])
        record.save()


def run(record: Record, minutes: float, fuzz: int) -> None:
    deadline = time.monotonic() + 60 * minutes
    note_reached(record, fuzz)
    tests = commands(fuzz)
    for mutant in record.mutants:
        if mutant.state != "drawn":
            continue
        if time.monotonic() > deadline:
            print("the time is over; 'run' goes on from here")
            return
        some = sorted(((seconds, name) for name, (seconds, ids) in record.reached.items()
                       if mutant.id in ids and name in tests))  # fmt: skip
        mutant.state = "survived"
        mutant.killer = f"{len(some)} tests come to it" if some else "no test comes to it"
        for seconds, name in some:
            limit = max(20.0, PATIENCE * seconds)
            passed, _ = execute(tests[name], limit, TILEWRIGHT_MUTANT=str(mutant.id))
            if not passed:
                mutant.state, mutant.killer = "killed", name
                break
        print(f"{mutant.id} {mutant.file}:{mutant.line} {mutant.kind}: {mutant.state}, {mutant.killer}",
              flush=True)  # fmt: skip
        record.save()


def report(record: Record) -> None:
    print("| room | drawn | do not compile | killed | survived | killed of those that compile |")
    print("|---|---|---|---|---|---|")
    for room in sorted({m.room for m in record.mutants}):
        states = Counter(m.state for m in record.mutants if m.room == room)
        judged = states["killed"] + states["survived"]
        share = f"{100 * states['killed'] / judged:.0f}%" if judged else "not run"
        print(f"| {room} | {sum(states.values())} | {states['refused']} | {states['killed']} | "
              f"{states['survived']} | {share} |")  # fmt: skip
    print()
    for m in record.mutants:
        if m.state == "survived":
            print(f"- {m.id} `{m.file}:{m.line}` {m.kind} ({m.killer}): `{m.before}`")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_subparsers(dest="what", required=True)
    drawing = what.add_parser("draw")
    drawing.add_argument("rooms", nargs="+")
    drawing.add_argument("--count", type=int, default=100)
    drawing.add_argument("--seed", type=int, default=0)
    running = what.add_parser("run")
    running.add_argument("--minutes", type=float, default=180)
    running.add_argument("--fuzz", type=int, default=40, help="random programs of each kind")
    what.add_parser("report")
    options = parser.parse_args()
    if options.what == "draw":
        copy_tree()
        record = draw(options.rooms, options.count, options.seed)
        build(record)
        report(record)
    elif options.what == "run":
        run(Record.load(), options.minutes, options.fuzz)
        report(Record.load())
    else:
        report(Record.load())


if __name__ == "__main__":
    main()
