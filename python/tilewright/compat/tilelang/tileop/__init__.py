"""`tilelang.tileop`: enumerations of tile statements."""

from __future__ import annotations

from tilewright.compat import refuse_rest

refuse_rest(__name__)
