"""What scripts ask the carver about the device; its cost models are not part of Tilewright."""

from __future__ import annotations

from tilewright.compat import refuse_rest

refuse_rest(__name__)
