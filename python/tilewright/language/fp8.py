"""The 8-bit floats of the device."""

from __future__ import annotations

from typing import Any

from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import EXPORTED, dtype

_FORMATS = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


def determine_fp8_type(fp8_format: str = "e4m3", device: Any = None) -> dtype:
    """The element type of a format: those of CUDA."""
    if fp8_format not in _FORMATS:
        raise LanguageError(f"the 8-bit floats are 'e4m3' and 'e5m2', got {fp8_format!r}")
    return EXPORTED[_FORMATS[fp8_format]]


def determine_torch_fp8_type(fp8_format: str = "e4m3", device: Any = None) -> Any:
    """The same as torch's dtype."""
    return determine_fp8_type(fp8_format).as_torch()
