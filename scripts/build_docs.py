#!/usr/bin/env python3
"""Builds build/docs/: the pages of docs/, and the reference that mlir-tblgen writes from .td files.

usage: scripts/build_docs.py [OUT]      default: build/docs

Fails on a relative link that leads nowhere, so that a renamed page cannot leave a dead link behind.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
LLVM = Path(os.environ.get("LLVM_PREFIX") or "/usr/lib/llvm-22")

# Which .td files are documented, by their names, and how.
GENERATORS = {
    "*Ops.td": ("-gen-dialect-doc", "-dialect={room}"),
    "*Passes.td": ("-gen-pass-doc",),
}

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  body {{ max-width: 48rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.6 sans-serif;
         color: #1a1a1a; background: #fff; }}
  pre {{ padding: .8rem 1rem; overflow-x: auto; background: #f5f5f2; border-radius: 4px; }}
  code {{ font: .9em/1.5 ui-monospace, monospace; }}
  table {{ border-collapse: collapse; }} th, td {{ padding: .2rem .8rem; border: 1px solid #ddd; }}
</style></head>
<body><nav><a href="{home}">Tilewright</a></nav>
{body}
</body></html>
"""


def reference_pages() -> dict[str, str]:
    """page path -> markdown, one for each dialect and each list of passes."""
    pages = {}
    for pattern, options in GENERATORS.items():
        for record in sorted((ROOT / "include" / "tilewright").rglob(pattern)):
            room = record.parent.name
            command = [LLVM / "bin" / "mlir-tblgen", record]
            command += [option.format(room=room.lower()) for option in options]
            command += [f"-I{ROOT / 'include'}", f"-I{LLVM / 'include'}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"build_docs: error: mlir-tblgen refuses '{record}'\n{done.stderr}")
            title = f"{room}: {record.stem}"
            body = re.sub(r"\[TOC\]|<!--.*?-->", "", done.stdout, flags=re.DOTALL)
            pages[f"reference/{room}-{record.stem}.md"] = f"# {title}\n\n{body}"
    return pages


def dead_links(path: str, text: str, pages: dict[str, str]) -> list[str]:
    """The relative links of the page at `path` that lead to no page and no file of the checkout."""
    dead = []
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        page = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if page not in pages and not (ROOT / "docs" / page).exists():
            dead.append(f"docs/{path}: error: link to '{target}' leads nowhere")
    return dead


def main(arguments: list[str]) -> int:
    out = Path(arguments[0]) if arguments else ROOT / "build" / "docs"
    pages = {
        file.relative_to(ROOT / "docs").as_posix(): file.read_text(encoding="utf-8")
        for file in sorted((ROOT / "docs").rglob("*.md"))
    }
    references = reference_pages()
    pages |= references
    listing = "\n".join(f"- [{Path(p).stem}]({Path(p).name})" for p in references)
    pages["reference/index.md"] = f"# Reference\n\nGenerated from the .td files.\n\n{listing}\n"

    faults = [fault for path, text in pages.items() for fault in dead_links(path, text, pages)]
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    for path, text in pages.items():
        file = (out / path).with_suffix(".html")
        file.parent.mkdir(parents=True, exist_ok=True)
        heading = re.search(r"^#+ (.*)$", text, flags=re.MULTILINE)
        body = re.sub(r'href="([^":]+)\.md', r'href="\1.html', markdown.render(text))
        home = os.path.relpath(out / "index.html", file.parent)
        title = heading[1] if heading else path
        file.write_text(PAGE.format(title=title, home=home, body=body), encoding="utf-8")
    print(f"{len(pages)} pages; start at {out}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
