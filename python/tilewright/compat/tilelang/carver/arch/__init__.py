"""`tilelang.carver.arch`: facts about the chosen architecture."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.compat.tilelang.carver.arch import driver
from tilewright.support.not_part import NotPart

_REASON = "the carver's models of devices are not here"

CUDA = NotPart("CUDA", _REASON)
CDNA = NotPart("CDNA", _REASON)

__all__ = ["CDNA", "CUDA", "driver"]

refuse_rest(__name__)
