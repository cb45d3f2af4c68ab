"""The README's program is run as it stands, and prints what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_first_kernel_prints_what_the_readme_says(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    (promised,) = re.findall(r"`\.venv/bin/python first\.py` prints `([^`]*)`", README)
    file = tmp_path / "first.py"
    file.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (promised, "")


def test_verify_of_the_first_kernel_prints_what_the_readme_says(tmp_path: Path) -> None:
    """With and without arguments: the kernel has `out_idx`."""
    (program,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    (promised,) = re.findall(r"\n    ('main': interp.*)\n", README)
    file = tmp_path / "first.py"
    calls = (
        "kernel = matmul_relu(100, 90, 72)\nassert kernel.verify()\nassert kernel.verify(a, b)\n"
    )
    file.write_text(program + calls, encoding="utf-8")
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    made_up, given = done.stdout.splitlines()[1:]
    assert (made_up, done.stderr) == (promised, "")
    assert given == promised.removesuffix(" on made-up inputs")
