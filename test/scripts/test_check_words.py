"""The lint of words: what it refuses, what it lets pass, and that ours are clean."""

from __future__ import annotations

from pathlib import Path

import check_words
import pytest
from check_words import faults_below

ROOT = Path(check_words.__file__).resolve().parent.parent


def write(root: Path, file: str, text: str) -> Path:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The barrier stands behind it.", "'behind': say after"),
        ("A tile that nobody reads.", "'nobody': say nothing, no thread, no caller"),
        ("Arguments of which one is written.", "'of which': say whose, if one of"),
        ("It asks for memory.", "'asks for': say need, request, prefetch"),
        ("The last turn of the loop.", "'last turn': say iteration"),
        ("Two share a place.", "'a place': say location, address, slot, position, index"),
    ],
)
def test_a_word_that_was_given_up_is_told(tmp_path: Path, text: str, fault: str) -> None:
    root = write(tmp_path, "docs/index.md", f"# Title\n{text}\n")
    assert faults_below(root) == [f"docs/index.md:2: {fault}"]


@pytest.mark.parametrize(
    "text",
    [
        "The pass places a barrier; tensors are updated in place.",
        "Two halves, each of which is read once.",
        "A branch that turns rows into columns in turn.",
        "The rest takes the place of the tile.",
    ],
)
def test_other_uses_pass(tmp_path: Path, text: str) -> None:
    assert faults_below(write(tmp_path, "lib/Room/File.cpp", f"// {text}")) == []


def test_files_that_are_no_text_of_ours_are_not_read(tmp_path: Path) -> None:
    for file in (
        "docs/compatibility.md",
        "docs/internals/glossary.md",
        "test/page.md",
        "docs/a.svg",
    ):
        write(tmp_path, file, "behind")
    assert faults_below(tmp_path) == []


def test_ours_are_clean() -> None:
    assert faults_below(ROOT) == []
