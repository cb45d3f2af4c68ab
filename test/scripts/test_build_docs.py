"""`make docs`: what the pages are made from, and with Sphinx the site itself."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import build_docs
import pytest
import tilewright.language as T
from docs_pages import dialect, language
from docs_pages.stage import DOCS, GENERATED, _table_of_contents, stage


def test_every_room_has_its_passes_on_the_page(tmp_path: Path) -> None:
    text = dialect.passes_page(tmp_path)
    for record in dialect.records("*Passes.td"):
        assert f"## {record.parent.name}\n" in text
    assert "tile-check-plans" in text
    assert "tile-infer-layouts" in text


def test_every_marker_is_known_and_used() -> None:
    pages = [file.read_text(encoding="utf-8") for file in DOCS.rglob("*.md")]
    used = [name for page in pages for name in re.findall(r"<!-- generate: (.*?) -->", page)]
    assert sorted(used) == sorted(GENERATED)


def test_every_name_of_the_language_is_on_one_page() -> None:
    listed = [name for family in language.FAMILIES for name in language.names_of(family)]
    assert sorted(listed) == sorted(T.__all__)


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("breathe") is None or shutil.which("doxygen") is None,
    reason="`scripts/bootstrap.sh docs` installs Sphinx and Doxygen",
)
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Dead links are warnings, and warnings errors."""
    assert build_docs.main([str(tmp_path / "docs")]) == 0
    index = (tmp_path / "docs" / "searchindex.js").read_text(encoding="utf-8")
    assert "atomic_add" in index
    for page in (tmp_path / "docs").rglob("*.html"):
        outside = re.findall(
            r'(?:src|href)="(https?://[^"]*\.(?:js|css|woff2?))"', page.read_text()
        )
        assert outside == [], page


@pytest.mark.slow
def test_pages_have_no_marker_left(tmp_path: Path) -> None:
    stage(tmp_path / "pages")
    for page in (tmp_path / "pages").rglob("*.md"):
        assert "<!-- generate" not in page.read_text(encoding="utf-8"), page


def test_the_navigation_calls_a_page_as_its_index_does() -> None:
    text = "## How to\n\n- [Check any PTX](vgpu.md): `tw-vgpu`, see [errors](errors.md).\n"
    assert "1. Vector add <01_vector_add>" in _table_of_contents(
        "1. [Vector add](01_vector_add.py)\n"
    )
    (caption, entry) = re.findall(r":caption: (.*)\n\n(.*)\n", _table_of_contents(text))[0]
    assert (caption, entry) == ("How to", "Check any PTX <vgpu>")
