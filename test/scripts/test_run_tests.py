"""The test runner: what it reads from each kind of result, and that an empty suite fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import run_tests
from run_tests import Session, Suite, Tally, read_junit, read_lit, read_unit, run_suite


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_pytest_file(tmp_path: Path) -> None:
    file = write(
        tmp_path / "r.xml",
        "<testsuites><testsuite><testcase name='a'/><testcase name='b'/>"
        "<testcase name='c'><failure/></testcase><testcase name='d'><error/></testcase>"
        "<testcase name='e'><skipped/></testcase></testsuite></testsuites>",
    )
    assert read_junit(file) == Tally(passed=2, failed=2, skipped=1)


def test_gtest_file(tmp_path: Path) -> None:
    file = write(
        tmp_path / "r.xml",
        "<testsuites><testsuite><testcase name='a' status='run' result='completed'/>"
        "<testcase name='b' status='run' result='completed'><failure message='x'/></testcase>"
        "<testcase name='c' status='run' result='skipped'><skipped/></testcase>"
        "<testcase name='d' status='notrun' result='suppressed'/></testsuite></testsuites>",
    )
    assert read_junit(file) == Tally(passed=1, failed=1, skipped=2)


def test_lit_file_counts_unknown_codes_as_failures(tmp_path: Path) -> None:
    codes = ["PASS", "XFAIL", "UNSUPPORTED", "FAIL", "XPASS", "UNRESOLVED", "SOMETHING-NEW"]
    file = write(tmp_path / "r.json", json.dumps({"tests": [{"code": code} for code in codes]}))
    assert read_lit(file) == Tally(passed=2, failed=4, skipped=1)


def test_gtest_program_that_crashes_or_is_missing_is_a_failure(tmp_path: Path) -> None:
    ctest = write(
        tmp_path / "ctest.xml",
        "<testsuite><testcase name='Good' status='run'/>"
        "<testcase name='Crashed' status='fail'><failure/></testcase>"
        "<testcase name='NotFound' status='notrun'><skipped/></testcase>"
        "<testcase name='LeakedAtExit' status='fail'><failure/></testcase></testsuite>",
    )
    two_passed = "<testsuites><testcase status='run'/><testcase status='run'/></testsuites>"
    write(tmp_path / "unit" / "Good.xml", two_passed)
    write(tmp_path / "unit" / "LeakedAtExit.xml", two_passed)
    assert read_unit(tmp_path / "unit", ctest) == Tally(passed=4, failed=3)


def test_suite_without_tests_fails(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(run_tests.SUITES, "empty", Suite(lambda session: Tally(skipped=3)))
    tally, _ = run_suite("empty", Session(tmp_path, tmp_path, long=False))
    assert tally == Tally(failed=1, skipped=3)
    assert "suite 'empty' ran no test" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def test_good(): pass\ndef test_bad(): assert False\n", Tally(passed=1, failed=1)),
        ("import no_such_module\n", Tally(failed=1)),
    ],
)
def test_pytest_suite_end_to_end(tmp_path: Path, monkeypatch, body: str, expected: Tally) -> None:
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    write(tmp_path / "checks" / "test_it.py", body)
    session = Session(tmp_path, tmp_path, long=False)
    assert run_tests.pytest_suite("checks")(session) == expected


def test_a_long_run_leaves_slow_tests_out_when_its_time_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    write(tmp_path / "pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-m 'not slow'\"\n")
    body = "import pytest\ndef test_quick(): pass\n@pytest.mark.slow\ndef test_slow(): pass\n"
    write(tmp_path / "tests" / "test_it.py", body)
    (tmp_path / "results").mkdir()
    session = Session(tmp_path, tmp_path / "results", long=True)
    suite = run_tests.pytest_suite("tests")
    monkeypatch.delenv(run_tests.LONG_END, raising=False)
    assert suite(session) == Tally(passed=2)
    monkeypatch.setenv(run_tests.LONG_END, "1.0")
    assert suite(session) == Tally(passed=1)
