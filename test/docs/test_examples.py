"""Each program of examples/ runs on every engine and is in the index of the documentation."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from docs_pages.gallery import EXAMPLES, examples, title_of

PROGRAMS = examples()
#: It times its candidates, which says nothing on a virtual GPU.
ONLY_CPU = ("tune_matmul",)


def run(program: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_DEVICE", device)
    runpy.run_path(str(program), run_name="__main__")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in ONLY_CPU else [])
        for path in PROGRAMS
    ],
)
def test_runs_on_the_cpu(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(program, "cpu", monkeypatch)
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("device", ["interp", "vgpu:sm_80", "vgpu:sm_90a"])
@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if p.stem not in ONLY_CPU], ids=lambda path: path.stem
)
def test_runs_on_other_engines(program: Path, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run(program, device, monkeypatch)


def test_the_index_has_every_program() -> None:
    assert sorted(PROGRAMS) == sorted(EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_docstring_has_a_title_and_says_how_to_run_it(program: Path) -> None:
    source = program.read_text(encoding="utf-8")
    assert len(title_of(source)[0]) < 100
    assert f"python examples/{program.name}" in source.split('"""')[1]
