"""Each chapter of the tutorial runs from top to bottom, and is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_pages.chapters import cells, run

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial"
CHAPTERS = sorted(TUTORIAL.glob("[0-9]*.py"))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_chapter_runs(chapter: Path, tmp_path: Path) -> None:
    """Its pictures are written where its text looks for them, and its output says no False."""
    outputs = {cell.line: output for cell, output in run(chapter, tmp_path)}
    text = "\n".join(cell.text for cell in cells(chapter.read_text()) if not cell.is_code)
    for picture in re.findall(r"\]\((\w+\.svg)\)", text):
        assert (tmp_path / picture).exists(), picture
    assert any(outputs.values())
    assert not any(re.search(r"\b(False|DIFFER)\b", output) for output in outputs.values())


def test_chapters_are_listed() -> None:
    listed = re.findall(r"\]\((\d\d_\w+\.py)\)", (TUTORIAL / "index.md").read_text())
    assert listed == [chapter.name for chapter in CHAPTERS]
