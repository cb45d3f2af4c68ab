"""The programs tw-opt and tw-vgpu as functions of the extension module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def tool(name: str, *arguments: str) -> subprocess.CompletedProcess:
    program = f"import sys; from tilewright.cli import tools; sys.exit(tools.{name}())"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )


def test_tw_opt_is_a_function(tmp_path: Path) -> None:
    file = tmp_path / "empty.mlir"
    file.write_text("module {}")
    done = tool("run_opt", str(file))
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["module", "{", "}"], "")
    file.write_text("modul {}")
    done = tool("run_opt", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert "error" in done.stderr


def test_tw_vgpu_is_a_function(tmp_path: Path) -> None:
    file = tmp_path / "nothing.ptx"
    file.write_text(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")
    done = tool("run_vgpu", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("k: 0 parameters")
    done = tool("run_vgpu", str(tmp_path / "missing.ptx"))
    assert done.returncode == 2
    assert "cannot read" in done.stderr
