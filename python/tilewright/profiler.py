"""Timing of zero-argument functions."""

from __future__ import annotations

from tilewright.errors import ReportedNameError, caller_place


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ReportedNameError(f"'tilelang.profiler.{name}' is not supported yet", caller_place())
