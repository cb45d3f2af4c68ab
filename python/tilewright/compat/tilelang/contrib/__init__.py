"""`tilelang.contrib`: what scripts ask of the CUDA tools, answered for the chosen device."""

from __future__ import annotations

from tilewright.compat import refuse_rest

refuse_rest(__name__)
