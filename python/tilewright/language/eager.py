"""`T.const` and `T.empty`; what they do is decided where functions are traced."""

from __future__ import annotations

from tilewright.frontend.eager import const, empty

__all__ = ["const", "empty"]
