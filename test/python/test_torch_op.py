"""`tilewright.torch_op`: a kernel as an operator of torch.

Other tests see a torch whose tensors say they are on a GPU (conftest.py); these want torch as it
is, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")


def test_kernels_are_operators_of_torch() -> None:
    checks = Path(__file__).with_name("torch_op_checks.py")
    command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, checks], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
