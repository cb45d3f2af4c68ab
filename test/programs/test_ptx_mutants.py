"""Every wait, arrive, fence, commit and bounds test of our PTX for sm_90a is needed, or there is a
reason why not (test/fuzz/ptx_mutants.py). `make test` removes one instruction of each kind from
two kernels, `make test-long` every one from all."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

import ptx_mutants  # noqa: E402
from ptx_mutants import KERNELS, Mutant, judge, kernel_of, mutants_of  # noqa: E402

PTX = """
\tsetp.ge.s32 \t%p1, %r1, %r2;
\t@%p1 bra \t$L__BB0_2;
\tst.global.b32 \t[%rd1], %r3;
$L__BB0_2:
{
.reg .pred done;
wait0: mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;
@done bra.uni over0;
bra.uni wait0;
over0:
}
\t@%p2 ld.global.b32 \t%r4, [%rd2];
\tcp.async.cg.shared.global [%rd23], [%rd24], 16, %r31;
@first mbarrier.arrive.shared::cta.b64 _, [%r100];
\tmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r132], %r133;
\twgmma.commit_group.sync.aligned;
\tbar.sync \t0;
"""


def test_mutants_lack_one_instruction() -> None:
    made = list(mutants_of(PTX))
    assert [mutant.kind for mutant in made] == [
        "bounds", "mbarrier wait", "bounds", "bounds", "arrive", "expect_tx", "commit", "barrier",
    ]  # fmt: skip
    assert "bra" not in made[0].ptx.split("st.global")[0]
    assert "wait0" not in made[1].ptx and "over0" not in made[1].ptx
    assert "@%p2" not in made[2].ptx and "ld.global" in made[2].ptx
    assert "16;" in made[3].ptx


def surviving(name: str, mutants: list[Mutant]) -> list[str]:
    """The mutants that nothing reports and no reason explains."""
    answers = [(mutant, judge(name, mutant)) for mutant in mutants]
    print(Counter((mutant.kind, answer.kind) for mutant, answer in answers))
    return [
        f"{name}:{mutant.line}: {mutant.kind}: {mutant.what}"
        for mutant, answer in answers if answer.kind == "survives"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["gemm", "attention"])
def test_a_mutant_of_each_kind_is_reported(name: str) -> None:
    """The last of each kind, which is no first wait of a new barrier."""
    chosen = {mutant.kind: mutant for mutant in mutants_of(kernel_of(name)[0].ptx)}
    assert {"mbarrier wait", "arrive", "expect_tx", "fence", "commit", "wait", "bounds",
            "barrier", "init"} <= set(chosen)  # fmt: skip
    assert surviving(name, list(chosen.values())) == []


def test_a_tile_that_lanes_read_needs_the_warps_barrier() -> None:
    name = "tile that a loop reads"
    (mutant,) = [m for m in mutants_of(kernel_of(name)[0].ptx) if m.kind == "warp barrier"]
    assert judge(name, mutant).kind == "finding"


@pytest.mark.slow
@pytest.mark.parametrize("name", list(KERNELS))
def test_every_mutant_is_reported_or_redundant(name: str) -> None:
    assert surviving(name, list(mutants_of(kernel_of(name)[0].ptx))) == []


def test_an_instruction_too_many_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the reasons, what is redundant shows."""
    monkeypatch.setattr(ptx_mutants, "REASONS", ())
    name = "tile that a loop reads"
    fences = [m for m in mutants_of(kernel_of(name)[0].ptx) if "mbarrier_init" in m.what]
    assert len(surviving(name, fences)) == 1
