"""The C++ side: everything that decides anything about a program lives there.

Modules import it as `from tilewright._core import core`. The extension is found next to this file
(an installed wheel) or on the path (a build tree).
"""

from __future__ import annotations

try:
    from tilewright import _tilewright_core as core
except ImportError:
    try:
        import _tilewright_core as core
    except ModuleNotFoundError:
        message = "Tilewright's extension module is not built; run 'make build' in the checkout"
        raise ImportError(message) from None

__all__ = ["core"]
