"""One program on every engine, for the tests of this folder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tilewright

ON_ALL = pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90"])


def run(func: Any, device: str, *arrays: np.ndarray) -> None:
    """Runs a kernel; nothing may be found."""
    kernel = tilewright.compile(func, device=device)
    kernel(*arrays)
    assert kernel.findings == []
