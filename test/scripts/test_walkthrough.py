"""docs/internals/walkthrough.md is what the compiler does, and has a section for each pass."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import walkthrough
from walkthrough import MARKER, PAGE, change, cleaned, missing

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_committed_page_is_what_the_script_writes() -> None:
    pytest.importorskip("tilewright._core", exc_type=ImportError)
    command = [sys.executable, walkthrough.__file__, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_a_pass_without_a_section_is_a_fault() -> None:
    sections = walkthrough.SECTION.findall(TEXT)
    stages = ("tile", *walkthrough.GPU_STAGES, *walkthrough.CPU_STAGES)
    passes = [name for name in sections if name not in stages]
    assert missing(TEXT, {"all": passes}) == []
    (fault,) = missing(TEXT, {"all": [*passes, "tile-new"]})
    assert fault.endswith("error: 'tile-new' has no section '### `tile-new`'")
    (fault,) = missing(TEXT, {"all": passes[1:]})
    assert fault.endswith(f"error: section '{passes[0]}' names no pass and no stage")


def test_every_section_has_prose_before_its_excerpt() -> None:
    for section in re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]:
        prose = re.split(r"^<!--|^#", section, flags=re.MULTILINE)[0].partition("\n")[2]
        assert len(prose.split()) >= 10, section[:60]


def test_every_marker_is_read() -> None:
    assert len(MARKER.findall(TEXT)) == TEXT.count("<!-- ")


def test_a_change_ignores_the_numbers_of_values() -> None:
    before = ["%1 = tile.load %0[%i]", "tile.store %1, %a[%i]"]
    after = ["%9 = tile.load %8[%i]", "tile.store %9, %a[%i]"]
    assert change(before, after, None) == "*The seed kernel passes unchanged.*\n"
    after.insert(1, "tile.barrier")
    assert "+ tile.barrier" in change(before, after, "barrier")
    with pytest.raises(SystemExit, match="no change matches 'gemm'"):
        change(before, after, "gemm")


def test_excerpts_have_short_types_and_no_locations() -> None:
    text = "tile.copy %a, %b : memref<64xf16, #tile.space<shared>> /home/me/k.py:3:1\n"
    assert cleaned(text) == ["tile.copy %a, %b"]
    text = '%a = tile.alloc "a" : memref<64xf16, #tile.space<shared>> /home/me/k.py:3:1\n'
    assert cleaned(text) == ['%a = tile.alloc "a" : shared<64xf16>']
