"""Helpers for tests of kernels."""

from __future__ import annotations

import random
import sys
from typing import Any

from tilewright.errors import ReportedNameError, caller_place


def set_random_seed(seed: int = 42) -> None:
    """Seeds `random`, numpy and, where it is loaded, torch."""
    import numpy

    random.seed(seed)
    numpy.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def main() -> None:
    """Runs the tests of the calling file with pytest."""
    import pytest

    frame = sys._getframe(1)
    sys.exit(pytest.main([frame.f_code.co_filename]))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ReportedNameError(f"'tilelang.testing.{name}' is not supported yet", caller_place())
