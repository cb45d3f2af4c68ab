"""`tilelang.carver.arch`: facts about the chosen architecture."""

from tilewright.compat.tilelang.carver.arch import driver
from tilewright.not_part import NotPart

_REASON = "the carver's models of devices are not here"

CUDA = NotPart("CUDA", _REASON)
CDNA = NotPart("CDNA", _REASON)

__all__ = ["CDNA", "CUDA", "driver"]
