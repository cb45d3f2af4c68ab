"""The tests that judge mutants, each a thing that runs in a child process and passes or fails."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LLVM = Path(os.environ.get("LLVM_PREFIX") or "/usr/lib/llvm-22")
#: How many random programs of each kind are tried.
SEEDS = {"tiles": 150, "values": 60, "statements": 40, "pipelines": 40, "threads": 100}


@dataclass(frozen=True)
class Item:
    """A test by its name, `KIND:...`; `run` says whether it passes."""

    name: str
    run: Callable[[], bool]

    @property
    def family(self) -> str:
        """Tests that are likely to see the same faults: of a file, a folder of test/lit, a program
        of unit tests, or a kind of random programs on an engine."""
        kind, _, rest = self.name.partition(":")
        if kind == "seed":
            program, *_, engine = rest.split(":")
            return f"seed:{program}:{engine}"
        if kind == "lit":
            return f"lit:{rest.rpartition('/')[0]}"
        return f"{kind}:{rest.partition('::' if kind == 'pytest' else ':')[0]}"


def lit_items() -> Iterator[Item]:
    """The files of test/lit, run by lit's own code in this process."""
    sys.path.insert(1, str(LLVM / "utils" / "lit"))
    from lit.discovery import find_tests_for_inputs
    from lit.LitConfig import LitConfig

    config = LitConfig("lit", [], "error", False, False, [], False, False, False, "lexical", {})
    scratch = tempfile.mkdtemp(prefix="mutants-lit-")
    for test in find_tests_for_inputs(config, [str(ROOT / "build" / "test" / "lit")]):
        test.suite.exec_root = scratch
        test.config.environment["TW_MUTANTS"] = os.environ["TW_MUTANTS"]

        def run(test=test) -> bool:
            result = test.config.test_format.execute(test, config)
            return not result.code.isFailure

        yield Item("lit:" + "/".join(test.path_in_suite), run)


def unit_items() -> Iterator[Item]:
    """The suites of the GoogleTest programs that hold mutants."""
    programs = sorted((ROOT / "build" / "bin").glob("*Tests"))
    for program in (program for program in programs if b"TW_MUTANTS" in program.read_bytes()):
        listed = subprocess.run(
            [program, "--gtest_list_tests"], capture_output=True, text=True, check=False
        )
        suites = [line.split()[0] for line in listed.stdout.splitlines() if line[:1].strip()]
        for suite in (suite for suite in suites if suite.endswith(".")):

            def run(program=program, suite=suite) -> bool:
                command = [program, f"--gtest_filter={suite}*"]
                return subprocess.run(command, capture_output=True, check=False).returncode == 0

            yield Item(f"unit:{program.name}:{suite[:-1]}", run)


def seed_items() -> Iterator[Item]:
    """Random programs, of all kinds in turn, on each engine that `make test` would give them: what
    one engine reaches, the others need not run for."""
    sys.path.insert(0, str(ROOT / "test" / "fuzz"))
    from differential.campaign import Plan
    from differential.kinds import KINDS
    from differential.witnesses import examine

    named = [(seed, kind) for kind, count in SEEDS.items() for seed in range(count)]
    for seed, kind in sorted(named):
        for engine in Plan(kind=kind).engines_of(seed):

            def run(kind=kind, engine=engine, seed=seed) -> bool:
                verdicts = examine(KINDS[kind].generate(seed), [engine], assembles=False)
                # A campaign fails if the interpreter objects to more than one program in a hundred.
                return all(v.kind in ("agree", "refused") for v in verdicts)

            yield Item(f"seed:{kind}:{seed}:{engine}", run)


def pytest_items(collected: list) -> Iterator[Item]:
    """What pytest has collected."""
    from _pytest.runner import runtestprotocol

    for test in collected:

        def run(test=test) -> bool:
            reports = runtestprotocol(test, log=False, nextitem=None)
            return not any(report.failed for report in reports)

        yield Item(f"pytest:{test.nodeid}", run)
