"""Each file of bad_input/ is a wrong program; its last comment is the report a user must see.

A changed message is accepted by running this file as a script:

    python test/python/test_bad_input.py        rewrites the comments; read the diff

A program that is accepted gets no comment: its test fails until it is refused.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest
import tilewright

FOLDER = Path(__file__).parent / "bad_input"
MARK = "# --- report ---\n"


def report(path: Path) -> str | None:
    """What the program reports, as seen from its own folder; None if it is accepted."""
    previous = os.getcwd()
    os.chdir(path.parent)
    try:
        runpy.run_path(path.name, run_name="__main__")
    except tilewright.TilewrightError as error:
        return str(error)
    finally:
        os.chdir(previous)
    return None


def expected(path: Path) -> str:
    """The report written at the end of the program."""
    _, _, comment = path.read_text().partition(MARK)
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in comment.splitlines())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_report(path: Path) -> None:
    found = report(path)
    assert found is not None, "the program is accepted, it must be refused"
    assert found == expected(path)


@pytest.mark.parametrize("device", ["interp", "vgpu:sm_80", "vgpu:sm_90a"])
def test_each_program_is_one_error_on_every_device(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reports above are those of the CPU; run-time errors have other words elsewhere."""
    monkeypatch.setenv("TILEWRIGHT_DEVICE", device)
    wrong = {}
    for path in sorted(FOLDER.glob("*.py")):
        if 'target="sm_' in path.read_text():
            continue  # about the code for that GPU
        found = report(path) or "accepted"
        headlines = [line for line in found.splitlines() if ": error: " in line]
        if len(headlines) != 1 or not headlines[0].startswith(f"{path.name}:"):
            wrong[path.stem] = found
    assert not wrong


def test_reports_differ_and_point_at_the_program() -> None:
    """More than 200 distinct diagnostics; each names the file, none is a bug of ours."""
    messages = set()
    for path in FOLDER.glob("*.py"):
        headline = expected(path).split("\n")[0]
        assert headline.startswith(f"{path.name}:"), f"{path.name}: {headline}"
        assert ": error: " in headline
        messages.add(headline.split(": error: ", 1)[1])
    assert len(messages) >= 200


def rewrite() -> int:
    """Writes the present reports into the programs; 1 if a program is accepted."""
    accepted = 0
    for path in sorted(FOLDER.glob("*.py")):
        program = path.read_text().partition(MARK)[0].rstrip() + "\n"
        found = report(path)
        if found is None:
            print(f"{path.name}: no error, nothing recorded", file=sys.stderr)
            accepted = 1
        else:
            lines = [f"# {line}".rstrip() for line in found.splitlines()]
            program += "\n\n" + MARK + "\n".join(lines) + "\n"
        path.write_text(program)
    return accepted


if __name__ == "__main__":
    from tilewright.compat import imports

    imports.install()
    sys.path.insert(0, str(FOLDER.parent))
    sys.exit(rewrite())
