"""Exceptions under TVM's names: what Tilewright raises is caught by them."""

from __future__ import annotations

from tilewright.support.errors import TilewrightError

TVMError = InternalError = DiagnosticError = TilewrightError

__all__ = ["DiagnosticError", "InternalError", "TVMError"]
