"""`tvm.runtime`: questions about what this build can do."""

from __future__ import annotations

from typing import Any

from tilewright.not_part import refuse_names


def enabled(target: str) -> bool:
    """Whether kernels for a target can be compiled here."""
    return str(target).split()[0] in ("cuda", "llvm", "c", "cpu")


__all__ = ["enabled"]

_refused = refuse_names("tvm.runtime", "kernels take numpy arrays and torch tensors")


def __getattr__(name: str) -> Any:
    return _refused(name)
