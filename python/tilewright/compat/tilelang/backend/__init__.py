"""`tilelang.backend`: which target is compiled for."""

from __future__ import annotations

from typing import Any

from tilewright.not_part import refuse_names

_refused = refuse_names(
    "tilelang.backend", "a device is chosen by target=, device= or TILEWRIGHT_DEVICE"
)


def __getattr__(name: str) -> Any:
    return _refused(name)
