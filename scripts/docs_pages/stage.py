"""The pages of docs/ as Sphinx reads them, in a folder of their own.

- `<!-- generate: NAME -->` is replaced by the text of `GENERATED[NAME]`; all other comments go.
- The pages that an index.md lists are its chapters, in that order; headings are captions. So are
  those of a page NAME.md next to a folder NAME.
- `tutorial/NAME.py` becomes a page: comments are prose, the rest is code, followed by its output.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from docs_pages import (
    chapters,
    command_line,
    cpp_api,
    dialect,
    gallery,
    language,
    python_api,
    settings,
)

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

#: What stands for a marker; each function gets the folder of the pages, for pictures it writes.
GENERATED: dict[str, Callable[[Path], str]] = {
    "command line": command_line.page,
    "dialect": dialect.page,
    "environment": settings.environment_page,
    "gallery": gallery.page,
    "pass configs": settings.pass_config_page,
    "passes": dialect.passes_page,
    "python api": python_api.page,
    "cpp api": cpp_api.page,
    **{f"language {family}": language.page_of(family) for family in language.FAMILIES},
    "language index": language.index_page,
}

_MARKER = re.compile(r"^<!-- generate: (.*?) -->$", flags=re.MULTILINE)
_COMMENT = re.compile(r"^<!--.*?-->\n?", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s:]+\.(?:md|py))(?:#[^)\s]*)?\)")
_FENCE = re.compile(r"^```.*?^```$", flags=re.MULTILINE | re.DOTALL)


def stage(out: Path) -> list[str]:
    """Writes all pages below `out`; their names."""
    out.mkdir(parents=True)
    shutil.copytree(DOCS / "_static", out / "_static")
    names = []
    for file in sorted(DOCS.rglob("*")):
        name = file.relative_to(DOCS).as_posix()
        if file.suffix == ".md":
            text = _fill_in(file.read_text(encoding="utf-8"), out)
            if file.name == "index.md" or file.with_suffix("").is_dir():
                text += _table_of_contents(text)
        elif file.suffix == ".py" and file.parent.name == "tutorial":
            text, name = chapters.page(file, out), name.removesuffix(".py") + ".md"
        elif file.suffix in (".svg", ".png"):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, out / name)
            continue
        else:
            continue
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(_link_pages(text), encoding="utf-8")
        names.append(name)
    return names


def _fill_in(text: str, out: Path) -> str:
    def made(marker: re.Match[str]) -> str:
        return GENERATED[marker[1]](out)

    return outside_code(lambda part: _COMMENT.sub("", _MARKER.sub(made, part)), text)


def outside_code(change: Callable[[str], str], text: str) -> str:
    """The text with its prose changed; fenced code stays as it is."""
    parts, start = [], 0
    for fence in _FENCE.finditer(text):
        parts += [change(text[start : fence.start()]), fence[0]]
        start = fence.end()
    return "".join([*parts, change(text[start:])])


def _link_pages(text: str) -> str:
    """Links to chapters, which are programs, lead to their pages."""
    chapter = re.compile(r"\]\(((?:\.\./)*(?:tutorial/)?\d\d_\w+)\.py")
    return outside_code(lambda part: chapter.sub(r"](\1.md", part), text)


def _table_of_contents(text: str) -> str:
    """Hidden `toctree`s of the pages that an index lists, one for each heading; the navigation
    calls a page as the index does."""
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in outside_code(lambda part: part, text).splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        if item := re.match(r"- |(\d+\. )", line):
            for title, target in _LINK.findall(line)[:1]:
                page = target.rpartition(".")[0]
                pages = sections.setdefault(heading, [])
                if not any(
                    f"<{page}>" in entry for listed in sections.values() for entry in listed
                ):
                    pages.append(f"{item[1] or ''}{title} <{page}>")
    parts = []
    for caption, pages in sections.items():
        if pages:
            option = f":caption: {caption}\n" if caption else ""
            listing = "\n".join(pages)
            parts.append(f"\n```{{toctree}}\n:hidden:\n{option}\n{listing}\n```\n")
    return "".join(parts)
