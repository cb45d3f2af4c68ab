"""Templates of the carver: its cost models are not part of Tilewright."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.support.not_part import NotPart

_REASON = "the carver's cost models are not here; give the configurations to try as a list"

ConvTemplate = NotPart("ConvTemplate", _REASON)
ElementwiseTemplate = NotPart("ElementwiseTemplate", _REASON)
FlashAttentionTemplate = NotPart("FlashAttentionTemplate", _REASON)
GEMVTemplate = NotPart("GEMVTemplate", _REASON)
GeneralReductionTemplate = NotPart("GeneralReductionTemplate", _REASON)
MatmulTemplate = NotPart("MatmulTemplate", _REASON)

refuse_rest(__name__)
