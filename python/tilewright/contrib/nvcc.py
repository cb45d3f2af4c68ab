"""Questions to nvcc, answered for the chosen architecture; nvcc itself is never called."""

from __future__ import annotations

from typing import Any

from tilewright.device import capability


def get_target_compute_version(target: Any = None) -> str:
    """The compute capability as text, such as "8.0"."""
    major, minor = capability()
    return f"{major}.{minor}"


def get_target_arch(compute_version: str) -> str:
    """ "90" for "9.0"."""
    return compute_version.replace(".", "")
