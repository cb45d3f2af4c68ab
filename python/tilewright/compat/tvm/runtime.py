"""`tvm.runtime`: questions about what this build can do."""

from __future__ import annotations

from tilewright.compat import refuse_rest


def enabled(target: str) -> bool:
    """Whether kernels for a target can be compiled here."""
    return str(target).split()[0] in ("cuda", "llvm", "c", "cpu")


__all__ = ["enabled"]

refuse_rest(__name__)
