"""Access plans of whole programs: the checker agrees, its mutants die, and few stay unproved."""

from __future__ import annotations

import contextlib
import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import tilewright
from tilewright._core import core
from tilewright.kernel import JITKernel, listeners

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "seed"))

import run_seed  # noqa: E402
from test_corpus import CORPUS, load  # noqa: E402

ARCHS = ("sm_80", "sm_90")
TW_OPT = Path(core.__file__).parents[1] / "bin" / "tw-opt"
MUTANTS = re.compile(r"(\w+) (\d+) refused (\d+) legal")
UNKNOWN = "the offsets of a thread's elements depend on run-time values"


def kernels_of(script: Path) -> list[JITKernel]:
    """The kernels that a script compiles when it is run."""
    compiled: list[JITKernel] = []

    def listen(event: str, kernel: JITKernel) -> None:
        if event == "compiled":
            compiled.append(kernel)

    listeners.append(listen)
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        listeners.remove(listen)
    assert compiled
    return compiled


@pytest.fixture(scope="module")
def programs() -> list[tuple[str, str]]:
    """Name and tile IR of every program of corpus, seed and examples that is not refused."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEWRIGHT_DEVICE", "interp")
        for path in sorted(CORPUS.glob("*.py")):
            with contextlib.suppress(tilewright.TilewrightError):
                found.append((path.stem, load(path).kernel().ir()))
        for case in run_seed.SMALL:
            name = f"seed, {case.arch}, {case.window}"
            found.append((name, run_seed.load_kernel(case, "interp").ir()))
        patch.setenv("TILEWRIGHT_DEVICE", "cpu")
        for example in ("quickstart.py", "matmul.py", "flash_attention.py"):
            kernels = kernels_of(ROOT / "examples" / example)
            found += [(example, kernel.ir()) for kernel in kernels]
    return found


def plan(ir: str, arch: str, *then: str) -> tuple[int, str]:
    """Plans the accesses of a program, and runs further passes; the status and what was said."""
    command = [TW_OPT, "-tile-expand-statements", "-tile-unroll-fragment-loops"]
    command += [f"-tile-infer-layouts=arch={arch}", f"-tile-plan-accesses=arch={arch}"]
    done = subprocess.run(
        [*command, *then, "-o", "/dev/null"], input=ir, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("arch", ARCHS)
def test_checker_refuses_every_wrong_mutant(arch: str, programs: list[tuple[str, str]]) -> None:
    """`-test-mutate-plans` fails where the checker accepts a plan that a simulation finds wrong, or
    refuses one that does what the loop says."""
    refused: Counter[str] = Counter()
    for name, ir in programs:
        status, said = plan(ir, arch, f"-test-mutate-plans=arch={arch}")
        assert status == 0, f"{name}: {said}"
        tally = said[said.index("mutants of ") :]
        for kind, wrong, _ in MUTANTS.findall(tally):
            refused[kind] += int(wrong)
    # Each way of being wrong was tried on many plans.
    assert set(refused) == {"base", "delta", "group", "guard", "order", "source", "width"}
    assert min(refused.values()) >= 15, refused
    assert refused.total() >= 1000


@pytest.mark.parametrize("arch", ARCHS)
def test_few_accesses_stay_unproved(arch: str, programs: list[tuple[str, str]]) -> None:
    """Under 1% of all accesses are scalar for want of a proof."""
    known = unknown = 0
    for name, ir in programs:
        status, said = plan(ir, arch)
        assert status == 0, f"{name}: {said}"
        for line in said.splitlines():
            if re.search(r"remark: \w*: \d+ x (ld|st|red|atom)\.", line):
                unknown += UNKNOWN in line
                known += UNKNOWN not in line
    assert known > 400
    assert unknown < 0.01 * known, f"{unknown} of {known + unknown}"


def test_plans_are_checked_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """TILEWRIGHT_CHECK_PLANS puts the checker after the planners."""
    case = run_seed.SMALL[0]
    program = run_seed.load_kernel(case, "interp").program
    for value, is_checked in (("1", True), ("0", False)):
        monkeypatch.setenv("TILEWRIGHT_CHECK_PLANS", value)
        passes = [name for name, _ in program.compile_gpu(case.arch, ["*"])["dumps"]]
        planned = passes.index("tile-start-bulk")  # the last pass that changes accesses
        assert (passes[planned + 1] == "tile-check-plans") == is_checked
