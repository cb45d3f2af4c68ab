"""`tilewright.torch_op`: a kernel as an operator of torch.

Other tests see a torch whose tensors say they are on a GPU (conftest.py); these want torch as it
is, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def has_torch() -> bool:
    """Asked in another process: this one may have a stand-in for torch among its modules."""
    return (
        subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0
    )


def test_kernels_are_operators_of_torch() -> None:
    if not has_torch():
        pytest.skip("torch is not installed")
    checks = Path(__file__).with_name("torch_op_checks.py")
    command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, checks], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
