"""Seeded faults: every one is noticed or explained, and every checker finds at least five."""

from collections import Counter

import mutants
import mutations
import pytest
from driver import NOT_BUILT
from programs import PROGRAMS
from redundant import REDUNDANT, reason_for

slow = pytest.mark.slow

# Checkers that a fault in PTX text can trigger.
KINDS = ("race", "misaligned", "out_of_bounds", "uninitialized", "barrier_divergence", "deadlock",
         "async_not_waited", "async_overwrite", "proxy_fence", "divergent_collective",
         "wgmma_register", "use_after_free", "step_limit")  # fmt: skip


@pytest.fixture(scope="module")
def run():
    pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)
    return mutants.run(mutants.distinct_programs(), jobs=2)


@pytest.fixture
def results(run):
    return run.results


@pytest.fixture
def all_results(run):
    if run.left_out:
        pytest.skip(f"TILEWRIGHT_LONG left out {len(run.left_out)} programs")
    return run.results


@slow
def test_no_mutant_is_missed(run, results, capsys):
    with capsys.disabled():
        print("\n" + mutants.table(results))
        if run.left_out:
            print(f"TILEWRIGHT_LONG left out: {' '.join(run.left_out)}")
    missed = [r for r in results if r.outcome == "MISSED"]
    listing = "\n".join(f"{r.program}:{r.line} {r.key} [{r.was}] {r.detail}" for r in missed)
    assert not missed, f"{len(missed)} mutants missed:\n{listing}"


@slow
def test_each_explanation_is_needed(all_results):
    used = {r.detail for r in all_results if r.outcome == "redundant"}
    assert [row for row in REDUNDANT if row.reason not in used] == []


@slow
def test_no_explanation_covers_a_fault(results):
    """A statement that orders something is either needed or explained, never both."""
    wrong = [
        f"{r.program} {r.key}"
        for r in results
        if r.outcome in ("found", "MISSED") and r.operator in mutations.SYNCHRONISATION
        if reason_for(r.program, r)
    ]
    assert not wrong, f"found, and yet explained as redundant: {wrong}"


@slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_checker_finds_five(all_results, kind):
    found = Counter(k for r in all_results for k in r.kinds)
    assert found[kind] >= 5


@slow
def test_no_false_alarm(capsys):
    pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)
    programs = mutants.distinct_programs()
    alarms = mutants.false_alarms(programs)
    with capsys.disabled():
        print(f"\nfalse alarms: {len(alarms)} of {len(programs)} unmutated kernels")
    assert not alarms, "\n".join(alarms)


@pytest.mark.parametrize("name", ["transpose_padded", "matmul_mma_f16", "triton_matmul_tma_sm90"])
def test_a_mutant_changes_its_line_and_no_line_number(name):
    program = next(p for p in PROGRAMS if p.name == name)
    original = program.path.read_text().splitlines()
    made = list(mutations.mutants(program))
    assert {"barrier", "wait"} & {m.operator for m in made}
    for mutant in made:
        changed = mutant.text.splitlines()
        assert len(changed) == len(original)
        differing = [i + 1 for i in range(len(original)) if changed[i] != original[i]]
        assert mutant.line == differing[0]
        assert len(differing) == (2 if mutant.operator == "swap" else 1)
