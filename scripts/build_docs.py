#!/usr/bin/env python3
"""Builds build/docs/: a searchable site of docs/ that needs no network.

usage: scripts/build_docs.py [OUT]      default: build/docs

`docs_pages.stage` writes the pages as Sphinx reads them: a marker `<!-- generate: NAME -->` is
replaced by what `docs_pages/` makes from docstrings, parsers and tables, a chapter of the tutorial
is run and shown with its output. Doxygen reads the C and C++ headers. Sphinx renders all of it; a
link that leads nowhere is an error.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from docs_pages.cpp_api import run_doxygen
from docs_pages.stage import ROOT, stage


def main(arguments: list[str]) -> int:
    out = Path(arguments[0]) if arguments else ROOT / "build" / "docs"
    source = out.parent / f"{out.name}-source"
    shutil.rmtree(source, ignore_errors=True)
    pages = stage(source)
    headers = run_doxygen(out.parent / f"{out.name}-doxygen")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    command += ["-D", f"breathe_projects.tilewright={headers}"]
    command += ["-c", ROOT / "docs", "-d", out.parent / f"{out.name}-doctrees", source, out]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if status != 0:
        print("build_docs: error: Sphinx reports the problems above", file=sys.stderr)
        return 1
    print(f"{len(pages)} pages; start at {out}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
