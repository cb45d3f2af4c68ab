#!/usr/bin/env python3
"""Runs the test suites one after another and sums their results.

The last line printed is `N passed, N failed, N skipped` over all suites. The exit status is 0 only
if nothing failed and every suite ran at least one test: a suite that silently finds nothing is a
failure. Results stay in BUILD/test-results (JUnit XML, lit's JSON, summary.json).

usage: scripts/run_tests.py [--build-dir DIR] [--long] [SUITE...]

scripts/run_tests.py lit programs      two suites
scripts/run_tests.py --long            with the slow tests and a minute of each fuzz target

TILEWRIGHT_LONG=MINUTES bounds a long run: slow tests that have not begun by then are left out, and
random programs are tried until then (the tests of `make test` run in any case).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from lint import LINTS

ROOT = Path(__file__).resolve().parent.parent
JOBS = str(len(os.sched_getaffinity(0)))
FUZZ_SECONDS = 60
#: When a bounded long run has used its time, as `time.time()`; for the slow tests to see.
LONG_END = "TILEWRIGHT_LONG_END"
FUZZ_SEEDS = {  # others start from test/lit
    "cache-fuzz": ["test/fuzz/artifacts"],
    "layout-fuzz": ["test/fuzz/layouts"],
    "ptx-fuzz": ["vgpu/test/ptx"],  # those of third parties are too long
    "ptx-run-fuzz": ["vgpu/test/ptx"],
}
ADVERSARY = (
    *("test_abuse.py", "test_hostile_tensors.py", "test_calls.py", "test_cpu_calls.py"),
    *("test_gpu.py", "test_environment.py"),
)
# A suite that takes longer hangs.
SUITE_SECONDS = 45 * 60
LONG_SUITE_SECONDS = 4 * 60 * 60


@dataclass
class Tally:
    """How many tests of a suite ended how."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass(frozen=True)
class Session:
    """What a suite needs to know: where the build is, where results go, how long it may take."""

    build: Path
    results: Path
    long: bool

    def run(self, *command: str | Path, **environment: str) -> int:
        """Runs `command` with its output on ours; its exit status, 124 if it took too long."""
        try:
            return subprocess.run(
                [str(part) for part in command],
                cwd=ROOT,
                env={**os.environ, **environment},
                check=False,
                timeout=LONG_SUITE_SECONDS if self.long else SUITE_SECONDS,
            ).returncode
        except subprocess.TimeoutExpired as late:
            print(f"run_tests: error: stopped after {late.timeout:.0f} s", flush=True)
            return 124


def seconds_left() -> float:
    """Of a bounded long run."""
    return float(os.environ.get(LONG_END, "inf")) - time.time()


# ---- Reading results ----


def read_junit(file: Path) -> Tally:
    """The tally of a JUnit file as pytest, ctest and GoogleTest write it."""
    tally = Tally()
    for case in ElementTree.parse(file).iter("testcase"):
        # ctest and GoogleTest mark a test that did not run by an attribute, pytest by an element.
        status = {case.get("status"), case.get("result")}
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed += 1
        elif case.find("skipped") is not None or status & {"skipped", "notrun", "disabled"}:
            tally.skipped += 1
        else:
            tally.passed += 1
    return tally


LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def read_lit(file: Path) -> Tally:
    """The tally of lit's JSON output; every code that is not known to be good is a failure."""
    codes = [test["code"] for test in json.loads(file.read_text())["tests"]]
    passed = sum(code in LIT_PASSED for code in codes)
    skipped = sum(code in LIT_SKIPPED for code in codes)
    return Tally(passed, len(codes) - passed - skipped, skipped)


def read_unit(folder: Path, ctest_file: Path) -> Tally:
    """The tally of ctest's programs: by test case where a program wrote GoogleTest's XML into
    `folder`, else one for the program. A program that fails without a failed case (it crashed, was
    not found, or a sanitizer spoke at its end) is one failure more."""
    tally = Tally()
    for program in ElementTree.parse(ctest_file).iter("testcase"):
        report = folder / f"{program.get('name')}.xml"
        status = program.get("status")
        if report.exists():
            cases = read_junit(report)
        else:
            cases = Tally(passed=status == "run", skipped=status == "disabled")
        if status not in ("run", "disabled") and not cases.failed:
            cases.failed += 1
        tally += cases
    return tally


def unless_silent(tally: Tally, status: int) -> Tally:
    """`tally`, with one failure more where a tool exits with `status` but shows no failed test."""
    return tally + Tally(failed=1) if status and not tally.failed else tally


# ---- The suites ----


def unit(session: Session) -> Tally:
    """GoogleTest programs, through ctest."""
    cases = session.results / "unit"
    cases.mkdir()
    summary = session.results / "ctest.xml"
    status = session.run(
        *("ctest", "--test-dir", session.build, "--output-on-failure", "-j", JOBS),
        *("--timeout", "1800" if session.long else "600", "--output-junit", summary),
        GTEST_OUTPUT=f"xml:{cases}/",
    )
    tally = read_unit(cases, summary) if summary.exists() else Tally()
    return unless_silent(tally, status)


def lit(session: Session) -> Tally:
    """The .mlir and .test files of test/lit, by LLVM's lit."""
    summary = session.results / "lit.json"
    tool = Path(os.environ.get("LLVM_PREFIX") or "/usr/lib/llvm-22") / "bin" / "lit"
    # -s -v: one line for the whole suite, everything about a test that fails.
    status = session.run(
        *(sys.executable, tool, "-s", "-v", "--no-progress-bar", "-j", JOBS, "-o", summary),
        session.build / "test" / "lit",
    )
    tally = read_lit(summary) if summary.exists() else Tally()
    return unless_silent(tally, status)


def pytest_suite(folder: str) -> Callable[[Session], Tally]:
    """The suite of the pytest files below `folder`."""

    def suite(session: Session) -> Tally:
        if not (ROOT / folder).is_dir():
            return Tally()
        summary = session.results / f"{folder.replace('/', '-')}.xml"
        status = session.run(
            *(sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", folder),
            f"--junit-xml={summary}",
            *(["-m", ""] if session.long and seconds_left() > 0 else []),
        )
        tally = read_junit(summary) if summary.exists() else Tally()
        return unless_silent(tally, status)

    return suite


def lints(session: Session) -> Tally:
    """Each quick lint is a test."""
    tally = Tally()
    for name in (name for name, lint in LINTS.items() if lint.quick):
        if session.run(sys.executable, "scripts/lint.py", name) == 0:
            tally.passed += 1
        else:
            tally.failed += 1
    return tally


def fuzz(session: Session) -> Tally:
    """Each libFuzzer program of the asan preset (bin/*-fuzz) runs a minute with a fixed seed,
    starting from the tests of its language, with the tokens of test/fuzz/<language>.dict if there
    is such a file; a finding is kept in build-asan/findings."""
    tally = Tally()
    findings = ROOT / "build-asan" / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    for program in sorted((ROOT / "build-asan" / "bin").glob("*-fuzz")):
        corpus = ROOT / "build-asan" / "corpus" / program.name
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = FUZZ_SEEDS.get(program.name, ["test/lit"])
        tokens = ROOT / "test" / "fuzz" / f"{program.name.split('-')[0]}.dict"
        seconds = FUZZ_SECONDS if seconds_left() > 0 else FUZZ_SECONDS // 10
        print(f"{program.name}: {seconds} s", flush=True)
        status = session.run(
            *(program, corpus, *(ROOT / seed for seed in seeds)),
            *("-seed=1", "-verbosity=0", "-timeout=20"),
            *(f"-max_total_time={seconds}", f"-artifact_prefix={findings}/{program.name}-"),
            *([f"-dict={tokens}"] if tokens.exists() else []),
        )
        tally += Tally(failed=1) if status else Tally(passed=1)
    return tally


def adversary(session: Session) -> Tally:
    """What hostile callers do, in a Python whose extension module has AddressSanitizer: its runtime
    is loaded before everything else. Python, numpy and libMLIR.so are not instrumented."""
    clang = Path(os.environ.get("LLVM_PREFIX") or "/usr/lib/llvm-22") / "bin" / "clang"
    asked = [clang, "-print-file-name=libclang_rt.asan-x86_64.so"]
    runtime = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    summary = session.results / "adversary.xml"
    status = session.run(
        *(sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short"),
        *(f"test/python/{name}" for name in ADVERSARY),
        f"--junit-xml={summary}",
        LD_PRELOAD=runtime,
        PYTHONPATH=str(session.build / "python"),
        PYTHONMALLOC="malloc",
        ASAN_OPTIONS="detect_leaks=0:allow_user_poisoning=0:detect_container_overflow=0:"
        "allocator_may_return_null=1:"
        "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0",
    )
    tally = read_junit(summary) if summary.exists() else Tally()
    return unless_silent(tally, status)


@dataclass(frozen=True)
class Suite:
    run: Callable[[Session], Tally]
    only_long: bool = False
    only_named: bool = False


SUITES = {
    "lints": Suite(lints),
    "unit": Suite(unit),
    "lit": Suite(lit),
    "scripts": Suite(pytest_suite("test/scripts")),
    "python": Suite(pytest_suite("test/python")),
    "programs": Suite(pytest_suite("test/programs")),
    "conformance": Suite(pytest_suite("test/conformance")),
    "docs": Suite(pytest_suite("test/docs")),
    "vgpu-third-party": Suite(pytest_suite("vgpu/test/third_party")),
    "fuzz": Suite(fuzz, only_long=True),
    "adversary": Suite(adversary, only_named=True),
}


# ---- The run ----


def run_suite(name: str, session: Session) -> tuple[Tally, float]:
    """Runs one suite under a headline. A suite without a test counts as a failure."""
    print(f"== {name}", flush=True)
    start = time.monotonic()
    tally = SUITES[name].run(session)
    if not tally.passed and not tally.failed:
        print(f"run_tests: error: suite '{name}' ran no test", flush=True)
        tally.failed += 1
    return tally, time.monotonic() - start


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build-dir", type=Path, default=Path("build"), help="default: build")
    parser.add_argument(
        "--long", action="store_true", help="the slow tests and the fuzz targets too"
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.suites if name not in SUITES]:
        parser.error(f"unknown suite '{unknown[0]}'; known: {', '.join(SUITES)}")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    build = (ROOT / arguments.build_dir).resolve()
    results = build / "test-results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    if arguments.long:
        os.environ["TILEWRIGHT_TEST_LONG"] = "1"  # unit tests widen their exhaustive ranges
        if minutes := float(os.environ.get("TILEWRIGHT_LONG", "0")):
            os.environ[LONG_END] = str(time.time() + 60 * minutes)
    session = Session(build, results, arguments.long)
    names = arguments.suites or [
        name
        for name, suite in SUITES.items()
        if not suite.only_named and (arguments.long or not suite.only_long)
    ]
    outcomes = {name: run_suite(name, session) for name in names}

    total = sum((tally for tally, _ in outcomes.values()), Tally())
    summary = {n: {**asdict(tally), "seconds": round(s, 2)} for n, (tally, s) in outcomes.items()}
    (results / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    print()
    for name, (tally, seconds) in outcomes.items():
        print(f"{name:18} {tally!s:42} {seconds:7.1f} s")
    print(total, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
