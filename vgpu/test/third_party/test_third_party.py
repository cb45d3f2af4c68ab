"""Every third-party program gives numpy's values on the virtual GPU, and not one finding."""

import re
from fnmatch import fnmatchcase

import pytest
from driver import NOT_BUILT, launch, summary
from not_yet import NOT_YET, what_lacks
from program import PTX_FOLDER
from programs import PROGRAMS


def _skip_without_engine():
    pytest.importorskip("tilewright.vgpu", reason=NOT_BUILT, exc_type=ImportError)


def _parameter(program):
    lack = what_lacks(program.name)
    marks = [pytest.mark.xfail(reason=f"not yet: {lack}", strict=True)] if lack else []
    return pytest.param(program, id=program.name, marks=marks)


@pytest.mark.parametrize("program", [_parameter(p) for p in PROGRAMS])
def test_values_and_no_findings(program):
    _skip_without_engine()
    case = program.case(seed=1)
    result = launch(program, case)
    unexpected = [f for f in result.findings if f.kind not in program.known_findings]
    assert not unexpected, summary(unexpected)
    assert {f.kind for f in result.findings} == set(program.known_findings)
    case.verify()


@pytest.mark.parametrize("program", [_parameter(p) for p in PROGRAMS])
def test_values_without_checks(program):
    """The fast path is another code path; it must compute the same."""
    _skip_without_engine()
    case = program.case(seed=2)
    launch(program, case, checks="none")
    case.verify()


def _is_asynchronous(program):
    return any(
        word in program.path.read_text() for word in ("cp.async", "wgmma", "cp.reduce.async")
    )


@pytest.mark.parametrize("program", [_parameter(p) for p in PROGRAMS if _is_asynchronous(p)])
def test_late_effects_change_nothing(program):
    """Copies and products that take effect at their wait: no other values, no other findings."""
    _skip_without_engine()
    case = program.case(seed=3)
    result = launch(program, case, mode="late")
    assert {f.kind for f in result.findings} == set(program.known_findings)
    case.verify()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_values_are_not_there_already(program):
    """An expectation that the unlaunched arguments meet would prove nothing."""
    with pytest.raises(AssertionError):
        program.case(seed=1).verify()


def test_every_kernel_of_the_corpus_is_run():
    used = {(p.path.name, p.entry) for p in PROGRAMS}
    for path in sorted(PTX_FOLDER.glob("*.ptx")):
        for entry in re.findall(r"\.entry\s+(\w+)", path.read_text()):
            assert (path.name, entry) in used, f"{path.name}: no program runs '{entry}'"


def test_every_gap_names_a_program():
    for pattern in NOT_YET:
        assert any(fnmatchcase(p.name, pattern) for p in PROGRAMS), (
            f"no program matches '{pattern}'"
        )


def test_the_corpus_names_no_machine():
    for path in sorted(PTX_FOLDER.glob("*.ptx")):
        for name in re.findall(r'\.file\s+\d+\s+"([^"]*)"', path.read_text()):
            assert "/" not in name, f"{path.name}: .file names a path: {name}"


def test_the_validation_table_is_up_to_date():
    import validation_table

    assert validation_table.DOCUMENT.read_text() == validation_table.document(), (
        "run vgpu/test/third_party/validation_table.py"
    )
