"""`tilelang.tools`: pictures of layouts."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.compat.tilelang.tools.plot import plot_layout
from tilewright.support.not_part import NotPart

Analyzer = NotPart("Analyzer", "tw run prints what the kernels did; kernel.summary() has figures")

__all__ = ["Analyzer", "plot_layout"]

refuse_rest(__name__)
