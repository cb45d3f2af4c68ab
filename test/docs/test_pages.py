"""Every code block of docs/ runs and prints what the page shows (scripts/docs_pages/blocks.py)."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
import tilewright
from docs_pages.blocks import Block, blocks_of, commands_of, matches, wrap
from docs_pages.chapters import cells

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(page for page in sorted(DOCS.rglob("*.md")) if "internals" not in page.parts),
    *sorted((DOCS / "internals").rglob("*.md")),
]
#: Languages of blocks that show, and are not run.
SHOWN = ("text", "diff", "mlir", "llvm", "ptx", "asm", "json", "cpp")
#: Pages whose excerpts another test keeps true (test/scripts/test_walkthrough.py).
INTERNALS = DOCS / "internals"
#: Scripts write these pages, and their tests keep them true.
WRITTEN_BY_SCRIPTS = (DOCS / "compatibility.md", DOCS / "conformance.md")
PRELUDE = "import numpy as np\nimport tilewright\nimport tilewright.language as T\n"


def has_code(page: Path) -> bool:
    return any(block.kind in ("python", "console") for block in blocks_of(page.read_text()))


class Session:
    """Runs the blocks of one page in a folder of its own."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.namespace = types.ModuleType("page").__dict__
        self.number = 0
        self.run_text(PRELUDE)

    def run_text(self, text: str) -> str:
        """Runs Python from a file, so that kernels have a source; what it prints."""
        self.number += 1
        file = self.folder / f"block_{self.number}.py"
        file.write_text(text, encoding="utf-8")
        output = io.StringIO()
        self.namespace["__file__"] = str(file)
        with contextlib.redirect_stdout(output):
            exec(compile(text, str(file), "exec"), self.namespace)
        return output.getvalue()

    def run_python(self, block: Block) -> None:
        if name := block.orders.get("file"):
            (self.folder / name).write_text(block.text, encoding="utf-8")
        text = block.text
        if "kernel" in block.orders:
            text = wrap(block) + ("" if "error" in block.orders else "tilewright.compile(part)\n")
        if wanted := block.orders.get("error"):
            if "kernel" in block.orders:
                text += "tilewright.compile(part)\n"
            with pytest.raises(Exception) as raised:
                self.run_text(text)
            assert wanted in str(raised.value), f"{self.page.name}:{block.line}"
            return
        output = self.run_text(text)
        if block.output is not None:
            assert matches(block.output, output), f"{self.page.name}:{block.line}:\n{output}"

    def run_console(self, block: Block) -> None:
        programs = os.pathsep.join((str(Path(sys.executable).parent), str(ROOT / "build" / "bin")))
        environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        for command, expected in commands_of(block):
            done = subprocess.run(
                ["bash", "-c", command], cwd=self.folder, env=environment, text=True,
                capture_output=True, check=False, timeout=120,
            )  # fmt: skip
            where = f"{self.page.name}:{block.line}: {command}"
            is_expected_to_fail = "exit status" in block.orders.get("error", "")
            assert is_expected_to_fail or done.returncode == 0, f"{where}\n{done.stderr}"
            if expected.strip():
                output = done.stdout + done.stderr
                assert matches(expected, output), f"{where}\n{output}"


@pytest.mark.parametrize("chapter", sorted(DOCS.glob("tutorial/*.py")), ids=lambda p: p.stem)
def test_commands_of_chapters_run(chapter: Path, tmp_path: Path) -> None:
    prose = [cell.text for cell in cells(chapter.read_text("utf-8")) if not cell.is_code]
    session = Session(chapter, tmp_path)
    for block in blocks_of("\n\n".join(prose)):
        assert block.kind == "console"
        session.run_console(block)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if has_code(page)], ids=lambda p: str(p.relative_to(DOCS))
)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    if "port" in page.name:  # a script that imports tilelang, as under `tw run`
        monkeypatch.setitem(sys.modules, "tilelang", tilewright)
        monkeypatch.setitem(sys.modules, "tilelang.language", tilewright.language)
    session = Session(page, tmp_path)
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if "not run" in block.orders:
            continue
        if block.kind == "python":
            session.run_python(block)
        elif block.kind == "console":
            session.run_console(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_each_block_is_run_or_says_why_not(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in blocks_of(text):
        assert block.kind in ("python", "console", *SHOWN), f"{page.name}:{block.line}"
        if block.kind == "console":
            assert block.text.startswith("$ "), f"{page.name}:{block.line}: no command"
    if INTERNALS not in page.parents and page not in WRITTEN_BY_SCRIPTS:
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        indented = re.search(r"\n\n    \S.*", prose)
        assert indented is None, f"{page.name}: an indented block is not run: {indented[0]}"
