"""The page of compatibility is made of records: counts, constructs, and what is not counted."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "compat")]

import compatibility  # noqa: E402
import failures  # noqa: E402
import page  # noqa: E402
import test_text  # noqa: E402

RECORDS = [
    {"case": "tests/a.py::test_one[4-8]", "status": "right", "commit": "abc"},
    {"case": "tests/a.py::test_two[16]", "status": "refused", "what": "'T.foo' is 3 wide"},
    {"case": "tests/a.py::test_three", "status": "refused", "what": "'T.foo' is 5 wide"},
    {"case": "tests/a.py::test_four", "status": "too long", "what": "too long"},
    {"case": "tests/a.py::test_five", "status": "no kernel"},
]


def make_page(folder: Path, records: list[dict]) -> str:
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "TileOPs.jsonl").write_text(lines)
    (folder / "TileOPs.revision").write_text("1234567 of 2026-01-01")
    bases = [base for base in compatibility.CODE_BASES if base.name == "TileOPs"]
    page.write_page(folder / "page.md", folder, bases, compatibility.read_records)
    return (folder / "page.md").read_text()


def test_cases_are_counted_and_failures_grouped_by_construct(tmp_path: Path) -> None:
    text = make_page(tmp_path, RECORDS)
    assert "| 1234567 of 2026-01-01 | 5 | 3 | 1 | 0 | 0 | 2 | 0 | 0 |" in text
    assert "| 2 | refused | 'T.foo' is N wide | `tests/a.py::test_two[16]` |" in text
    assert "over the limit of processor time (1):\n\n- `tests/a.py::test_four`" in text


def test_a_later_record_of_a_case_replaces_the_first(tmp_path: Path) -> None:
    again = {"case": RECORDS[1]["case"], "status": "right"}
    assert "| 5 | 3 | 2 | 0 | 0 | 1 |" in make_page(tmp_path, [*RECORDS, again])


@pytest.mark.parametrize("status", ["wrong", "host"])
def test_a_failure_of_the_test_itself_is_listed_and_not_counted(
    tmp_path: Path, status: str
) -> None:
    code_base, case, note = page.NOTES.read_text().splitlines()[0].split("\t")
    assert code_base == "TileOPs"
    text = make_page(tmp_path, [{"case": f"{case}[3]", "status": status, "what": "differs"}])
    assert note in text
    assert "| 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in text


def test_a_case_that_is_right_with_quotients_of_gpus_is_listed(tmp_path: Path) -> None:
    record = {"case": "tests/a.py::test_six", "status": "right", "quotients": True, "what": "x"}
    text = make_page(tmp_path, [record])
    assert "Right with torch's quotients of GPUs (1):\n\n- `tests/a.py::test_six`" in text


def test_a_refused_program_is_recorded_with_its_line() -> None:
    from tilewright.support.errors import LanguageError, Location

    error = LanguageError("'T.foo' is not supported", location=Location("k.py", 7, 1))
    assert failures.describe_failure(error, "") == {
        "status": "refused",
        "what": "'T.foo' is not supported",
        "where": "k.py:7",
    }


def test_the_command_can_be_started_as_the_page_says() -> None:
    assert os.access(ROOT / "scripts" / "compatibility.py", os.X_OK)


TEST_FILE = """
import torch
import tilelang.language as T

def program(n):
    return T.prim_func(torch.float32)

def run(n):
    kernel = compile(program(n))
    kernel(torch.zeros(n))

def test_pass():
    program(3)

def test_run():
    run(3)

def test_source():
    src = compile(program(3)).get_kernel_source()
    run(3)
    assert src is not None
    assert "mma" in src, "no mma"
"""


def test_text_of_a_test_says_whether_it_is_a_case(tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    file.write_text(TEST_FILE)
    assert not test_text.can_launch(file, "test_pass")  # a dtype is no tensor
    assert test_text.can_launch(file, "test_run")
    assert test_text.assertion_on_text(file, "test_run") is None
    assert test_text.assertion_on_text(file, "test_source") == 'assert "mma" in src, "no mma"'


def test_a_counted_failure_is_explained_and_stays_a_case() -> None:
    lines = [line.split("\t") for line in page.NOTES.read_text().splitlines()]
    code_base, case, note = next(line for line in lines if line[2].startswith("counted: "))
    record = page.explained(code_base, {"case": f"{case}[3]", "status": "wrong", "what": "differs"})
    assert record["status"] == "wrong"
    assert record["what"] == note.removeprefix("counted: ")
