"""Random programs on every engine (test/fuzz/differential), and tests of the fuzzer itself."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from differential import campaign, coverage, lockstep, shrink, threads, typed_numbers  # noqa: E402
from differential.emit import emit  # noqa: E402
from differential.generator import generate  # noqa: E402
from differential.kinds import KINDS  # noqa: E402
from differential.planted import PLANTS, Plant, hunt  # noqa: E402
from differential.program import Loop, Program, Reduce, walk  # noqa: E402
from differential.progress import Progress  # noqa: E402
from differential.ranges import is_sound  # noqa: E402
from differential.witnesses import Verdict, examine, examine_file  # noqa: E402

QUICK = range(501)
#: `make test-long`, in as many runs as the minutes of TILEWRIGHT_LONG make of it.
LONG = range(20_000)
THREADS = campaign.Plan(kind="threads")
VALUES = campaign.Plan(kind="values")
STATEMENTS = campaign.Plan(kind="statements")
PIPELINES = campaign.Plan(kind="pipelines")
BLOCKS = campaign.Plan(kind="blocks")


def assert_clean(outcome: campaign.Outcome, plan: campaign.Plan = campaign.TILES) -> None:
    """No failure; few programs that the interpreter objects to; at least half of them exact."""
    shown = "\n".join(
        f"{seed}: {verdict}\n    python test/fuzz/differential --kind {plan.kind} --seed {seed}"
        for seed, verdict in sorted(outcome.failures.items())
    )
    assert not outcome.failures, f"{outcome}\n{shown}"
    assert len(outcome.ill_formed) <= 0.01 * outcome.programs, outcome.ill_formed
    assert 2 * outcome.exact >= outcome.programs


def test_engines_agree_on_random_programs() -> None:
    outcome = campaign.run(QUICK)
    assert outcome.programs == len(QUICK)
    assert_clean(outcome)


@pytest.mark.slow
def test_engines_agree_on_many_random_programs() -> None:
    end = os.environ.get("TILEWRIGHT_LONG_END")  # four fifths of what is left, the rest for others
    minutes = 0.8 * (float(end) - time.time()) / 60 if end else None
    progress = Progress.load(LONG.start, LONG.stop)  # bounded runs add up
    outcome = campaign.run(list(range(progress.next, LONG.stop)), minutes=minutes)
    progress.add(outcome)
    print(outcome, progress, sep="\n")
    assert_clean(outcome)


def test_engines_agree_on_random_programs_of_threads() -> None:
    outcome = campaign.run(list(range(100)), THREADS)
    assert outcome.programs == 100
    assert_clean(outcome, THREADS)


@pytest.mark.slow
def test_engines_agree_on_many_random_programs_of_threads() -> None:
    assert_clean(campaign.run(list(range(100, 2000)), THREADS), THREADS)


def test_engines_agree_on_random_programs_of_values() -> None:
    outcome = campaign.run(list(range(60)), VALUES)
    assert outcome.programs == 60
    assert_clean(outcome, VALUES)


@pytest.mark.slow
def test_engines_agree_on_many_random_programs_of_values() -> None:
    assert_clean(campaign.run(list(range(60, 2000)), VALUES), VALUES)


def test_engines_agree_on_random_programs_of_statements() -> None:
    outcome = campaign.run(list(range(30)), STATEMENTS)
    assert outcome.programs == 30
    assert_clean(outcome, STATEMENTS)


@pytest.mark.slow
def test_engines_agree_on_many_random_programs_of_statements() -> None:
    assert_clean(campaign.run(list(range(30, 2000)), STATEMENTS), STATEMENTS)


def test_engines_agree_on_random_programs_of_pipelines() -> None:
    outcome = campaign.run(list(range(34)), PIPELINES)
    assert outcome.programs == 34
    assert_clean(outcome, PIPELINES)
    for engine in ("sm_90a", "sm_90a-late"):  # half of them are drawn for it
        assert outcome.coverage.counts[engine][coverage.BULK_AND_PRODUCTS] >= 10


@pytest.mark.slow
def test_engines_agree_on_many_random_programs_of_pipelines() -> None:
    assert_clean(campaign.run(list(range(34, 2000)), PIPELINES), PIPELINES)


def test_engines_agree_on_random_programs_whose_blocks_talk() -> None:
    outcome = campaign.run(list(range(40)), BLOCKS)
    assert outcome.programs == 40
    assert_clean(outcome, BLOCKS)


@pytest.mark.slow
def test_engines_agree_on_many_random_programs_whose_blocks_talk() -> None:
    assert_clean(campaign.run(list(range(40, 2000)), BLOCKS), BLOCKS)


# ---- Coverage ----


def cover(drawn: campaign.Drawn, engine: str, seen: coverage.Coverage) -> None:
    """Runs programs on an engine until each required cell has been exercised. An engine may refuse
    a program: then others that draw the same cells are tried."""
    untried = dict(drawn)
    plans = {kind: campaign.Plan(kind, (engine,)) for kind, _ in drawn}
    for _ in range(5):
        wanted = {cell for cell in coverage.REQUIRED if not seen.counts[engine][cell]}
        chosen, _ = campaign.covering(untried, wanted)
        for kind, seeds in chosen.items():
            outcome = campaign.run(seeds, plans[kind])
            assert_clean(outcome, plans[kind])
            seen.merge(outcome.coverage)
            for seed in seeds:
                del untried[kind, seed]


@pytest.mark.slow
def test_no_cell_of_the_language_stays_empty() -> None:
    """Few programs that draw every cell run on each engine that owes it."""
    counts = {
        "tiles": 1000, "threads": 300, "values": 4000, "statements": 3000, "pipelines": 300,
        "blocks": 200,
    }  # fmt: skip
    drawn = campaign.draw(counts)
    assert campaign.covering(drawn, coverage.REQUIRED)[1] == set(), "no program draws these"
    seen = coverage.Coverage()
    for engine in coverage.OWING[1:]:
        cover(drawn, engine, seen)
    # For what the code must hold: one program of forty has wgmma of bfloat16, or of a float8.
    for engine, end in (("sm_80", 40), ("sm_90a", 160), ("sm_90a-late", 40)):
        plan = campaign.Plan("pipelines", (engine,))
        outcome = campaign.run(list(range(0, end, 2)), plan)
        assert_clean(outcome, plan)
        seen.merge(outcome.coverage)
    print(seen.table())
    empty = seen.empty()
    assert not empty, "\n".join(empty)


def test_refused_programs_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pretended engine refuses the first program that draws a cell."""
    cell, other = sorted(coverage.REQUIRED)[:2]
    monkeypatch.setattr(coverage, "REQUIRED", {cell, other})
    drawn = {("tiles", 0): frozenset({cell, other}), ("tiles", 1): frozenset({cell}),
             ("values", 2): frozenset({other})}  # fmt: skip
    ran = []

    def run(seeds: list[int], plan: campaign.Plan) -> campaign.Outcome:
        outcome = campaign.Outcome()
        for seed in seeds:
            ran.append((plan.kind, seed))
            kind = "refused" if seed == 0 else "agree"
            outcome.add(seed, True, [Verdict(kind, "sm_80")], drawn[plan.kind, seed])
        return outcome

    monkeypatch.setattr(campaign, "run", run)
    seen = coverage.Coverage()
    cover(drawn, "sm_80", seen)
    assert sorted(ran) == [("tiles", 0), ("tiles", 1), ("values", 2)]
    assert seen.counts["sm_80"][cell] and seen.counts["sm_80"][other]


def test_cells_are_read_from_the_text() -> None:
    text = """
@T.prim_func
def main(A: T.Tensor((8, 16), "float16"), B: T.Tensor((8,), "uint8")):
    with T.Kernel(1, threads=32) as bx:
        s = T.alloc_shared((8, 16), "float16")
        v = T.view(s, (8, 32), "int8")
        T.copy(A[0:8, 0:16], s)
        T.reduce_max(v[0:8:2, 0:32], B, dim=1)
        for i in T.Parallel(8):
            x = T.alloc_var("int32", init=i // -3)
            B[i] = T.cast(v[i, 0] % -7 + x * 2, "uint8")
        for by, bz in T.Persistent([4, 2], 3, bx):
            T.clear(s)
"""
    cells = coverage.widened(coverage.cells_of(text))
    wanted = {
        ("T.copy", "float16", "global slice"), ("T.copy", "float16", "shared plain"),
        ("T.view", "int8", "shared"), ("T.reduce_max", "int8", "shared strided"),
        ("T.reduce_max on", "any", "global plain"), ("T.reduce_max", "uint8", "anywhere"),
        ("//", "index", "negative divisor"), ("%", "int8", "negative divisor"),
        ("+", "int32", "same"), ("*", "int32", "literal"), ("T.cast", "int32", "to uint8"),
        ("store", "uint8", "global plain"), ("load", "int8", "shared view"),
        ("T.alloc_var", "int32", ""), ("T.Parallel", "", "constant"),
        ("T.Persistent", "", "constant"),
    }  # fmt: skip
    assert wanted - cells == set()
    assert not any(construct == "T.gemm A" for construct, _, _ in cells)


def test_a_cell_counts_for_the_engines_that_agreed() -> None:
    outcome = campaign.Outcome()
    cell, code = ("T.copy", "int8", "shared view"), ("wgmma", "f32 f16", "instruction")
    verdicts = [Verdict("agree", "cpu-1"), Verdict("refused", "sm_80"),
                Verdict("agree", "sm_90a-late", code=(code,))]  # fmt: skip
    outcome.add(0, True, verdicts, [cell])
    counts = outcome.coverage.counts
    assert {name for name in counts if counts[name][cell]} == {
        "interp", "cpu", "cpu-1", "sm_90a", "sm_90a-late",
    }  # fmt: skip
    assert counts["sm_90a"][code] == 1 and not counts["cpu"][code]
    assert "T.copy on any shared view on sm_80" in outcome.coverage.empty()
    assert "T.copy on any shared view on cpu" not in outcome.coverage.empty()


# ---- The fuzzer itself ----


def test_the_meaning_of_threads_is_an_independent_witness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A front end that got a statement wrong: the text that runs is not the text that is read."""
    path = tmp_path / "program.py"
    path.write_text(threads.emit(threads.generate(0)))
    assert [v.kind for v in examine_file(path, True, ["cpu"])] == ["agree"]
    original = lockstep.ast.parse
    monkeypatch.setattr(
        lockstep.ast,
        "parse",
        lambda text, *rest: original(text.replace('("int32", init=1)', '("int32", init=6)'), *rest),
    )
    (verdict,) = examine_file(path, True, ["cpu"])
    assert (verdict.kind, verdict.engine) == ("difference", "interp")


def test_engines_can_be_chosen_for_many_seeds() -> None:
    outcome = campaign.run([0, 1], campaign.Plan(engines=("cpu-1",)))
    assert set(outcome.tally) == {"cpu-1 agree"}


def test_bounded_runs_add_up(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    progress = Progress.load(5, 100, record)
    progress.add(campaign.Outcome(programs=40, exact=30), record)
    progress.add(campaign.Outcome(programs=10, exact=7), record)
    again = Progress.load(5, 100, record)
    assert (again.next, again.exact, again.failed) == (55, 37, 0)
    assert Progress.load(6, 100, record).next == 6  # another range begins anew
    assert Progress.load(5, 55, record).next == 5  # all have run
    record.write_text(record.read_text().replace(again.generator, "another"))
    assert Progress.load(5, 100, record).next == 5  # the same seeds are other programs
    record.write_text("{")
    assert Progress.load(5, 100, record).next == 5


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_bug_is_found(plant: Plant) -> None:
    assert hunt(plant, plant.programs) is not None


def test_a_seed_is_a_program() -> None:
    for seed in range(50):
        for kind in KINDS.values():
            assert kind.emit(kind.generate(seed)) == kind.emit(kind.generate(seed))


def test_programs_stay_within_their_bounds() -> None:
    assert all(is_sound(generate(seed)) for seed in range(200))


def test_programs_cover_the_language() -> None:
    text = "\n".join(emit(generate(seed)) for seed in range(300))
    words = [
        "T.copy", "T.fill", "T.clear", "T.reduce_sum", "T.reduce_absmax", "T.reduce_bitxor",
        "T.cumsum", "reverse=True", "clear=False", "T.gemm", "transpose_A", "transpose_B",
        "clear_accum", "T.atomic_add", "T.atomic_max", "memory_order", "T.Pipelined",
        "num_stages=3", "T.unroll", "T.serial(0, ", "while ", "else:", "T.alloc_var", "T.view",
        "T.reshape", "T.alloc_reducer", "T.annotate_layout", "lambda i, j: [j, i]",
        "T.annotate_safe_value", "T.dynamic", "T.if_then_else", "float8_e4m3fn", "bfloat16",
        "uint32",
    ]  # fmt: skip
    assert [word for word in words if word not in text] == []


def test_programs_of_threads_cover_the_language() -> None:
    text = "\n".join(threads.emit(threads.generate(seed)) for seed in range(300))
    words = [
        "T.alloc_local", "T.atomic_max", "return_prev=True", "T.shfl_xor", "T.shfl_up",
        "T.warp_reduce_sum", "T.ws(1)", "T.barrier_wait", "T.Parallel", "T.reduce_max", "T.cumsum",
        "T.copy(B[bx, tx, 0:4], mine)", "T.unroll", "T.serial(u & 3)", "T.serial(x & 3)", "else:",
    ]  # fmt: skip
    assert [word for word in words if word not in text] == []


def test_a_failure_is_shrunk_to_what_matters() -> None:
    """A pretended engine that fails on every reduction inside a loop."""

    def fails(program: Program) -> bool:
        loops = [stmt for stmt in walk(program.body) if isinstance(stmt, Loop)]
        return any(isinstance(stmt, Reduce) for loop in loops for stmt in walk(loop.body))

    seed = next(seed for seed in range(1000) if fails(generate(seed)))
    small = shrink.shrink(generate(seed), fails, seconds=60)
    assert fails(small)
    assert len(list(walk(small.body))) == 2
    assert len(small.buffers) == 2
    assert max(small.extents.values()) == 1


def test_a_program_that_takes_its_process_down_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker is replaced by one that dies at the second seed."""
    dying = tmp_path / "dying.py"
    dying.write_text(
        "import os, sys, json\n"
        "for seed in map(int, sys.argv[2:]):\n"
        "    print(json.dumps({'begin': seed}), flush=True)\n"
        "    if seed == 8: os.abort()\n"
        "    print(json.dumps({'end': seed, 'exact': True, 'seen': []}), flush=True)\n"
    )
    monkeypatch.setattr(campaign, "WORKER", dying)
    outcome = campaign.run([7, 8, 9], jobs=1)
    assert outcome.programs == 3
    assert {seed: verdict.kind for seed, verdict in outcome.failures.items()} == {8: "crash"}


def test_a_program_that_does_not_end_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker computes without end, one waits without end; a slow machine is neither."""
    endless = tmp_path / "endless.py"
    endless.write_text(
        "import sys, json, time\n"
        "for seed in map(int, sys.argv[2:]):\n"
        "    print(json.dumps({'begin': seed}), flush=True)\n"
        "    while seed == 8: pass\n"
        "    if seed == 9: time.sleep(3600)\n"
        "    if seed == 7: time.sleep(2.5)\n"
        "    print(json.dumps({'end': seed, 'exact': True, 'seen': []}), flush=True)\n"
    )
    monkeypatch.setattr(campaign, "WORKER", endless)
    monkeypatch.setattr(campaign, "PROGRAM_SECONDS", 0.3)
    monkeypatch.setattr(campaign, "WAIT_SECONDS", 8.0)
    outcome = campaign.run([7, 8, 9], jobs=1)
    assert {seed: verdict.kind for seed, verdict in outcome.failures.items()} == {
        8: "timeout",
        9: "timeout",
    }


def test_the_interpreters_objection_is_no_difference() -> None:
    program = generate(0)
    program.body = program.body[-1:]  # stores a tile that nothing has written
    (verdict,) = examine(program, ["cpu"])
    assert verdict.kind == "ill-formed"
    assert not verdict.is_failure
    assert Verdict("difference").is_failure


def test_the_reference_keeps_bits_of_widened_shifts() -> None:
    """As docs/semantics.md has it: until the shift has a name."""
    x, amount = typed_numbers.Number("uint8", 200), typed_numbers.Number("uint8", 3)
    shifted = typed_numbers.binary("<<", x, amount)
    assert shifted == typed_numbers.Number("uint8", 1600 % 256)
    for dtype, kept in (("int32", 1600), ("uint16", 1600), ("uint8", 64), ("float32", 64)):
        assert typed_numbers.convert(shifted, dtype).value == kept
    assert typed_numbers.binary("%", shifted, 7).value == 1600 % 7
    assert typed_numbers.binary("%", shifted.named(), 7).value == 64 % 7
    again = typed_numbers.binary("<<", shifted, amount)
    assert typed_numbers.convert(again, "int64").value == 12800
