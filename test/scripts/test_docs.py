"""Pages of docs/: links lead somewhere, each page is listed, and code names pages that exist."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from lint import git

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "vgpu/README.md")]
PAGES = [*FRONT, *sorted(DOCS.rglob("*.md"))]


def links_of(page: Path) -> Iterator[tuple[Path, str]]:
    """The (file, anchor) of each relative link of a page."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path if path else page), anchor


def anchors_of(page: Path) -> set[str]:
    """The anchors that renderers of Markdown give the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    dead = [
        f"{file.name}#{anchor}"
        for file, anchor in links_of(page)
        if not file.exists() or (anchor and anchor not in anchors_of(file))
    ]
    assert not dead


@pytest.mark.parametrize("index", sorted(DOCS.rglob("index.md")), ids=lambda p: str(p.parent.name))
def test_an_index_lists_the_pages_of_its_folder(index: Path) -> None:
    folder = index.parent
    listed = {os.path.relpath(file, folder) for file, _ in links_of(index)}
    pages = {file.name for file in folder.glob("*.md")} - {"index.md"}
    pages |= {f"{file.parent.name}/index.md" for file in folder.glob("*/index.md")}
    assert pages <= listed, pages - listed


def test_pages_that_code_names_exist() -> None:
    dead = []
    for name in git("grep", "-lE", r"docs/[a-z/-]+\.md", "--", ":!test/scripts/test_docs.py"):
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        for page in set(re.findall(r"docs/[a-z/-]+\.md", text)):
            if not (ROOT / page).exists():
                dead.append(f"{name}: {page}")
    assert not dead


def test_each_bug_names_its_hole_and_what_closes_it() -> None:
    """Five cells a row, none empty, and every test that the last one names exists."""
    lines = (DOCS / "internals" / "bugs-found.md").read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("| ")][1:]
    assert len(rows) > 90
    files = git("ls-files", "--cached", "--others", "--exclude-standard")
    for row in rows:
        assert len(row) == 5 and all(cell.strip() for cell in row), row
        for name in re.findall(r"`([\w./*-]+\.(?:py|cpp|h|mlir|ptx))`", row[-1]):
            assert any(fnmatch(file, f"*{name}") for file in files), f"{row[1]}: no {name}"
