"""Helpers of programs, under TileLang's names."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from tilewright.compat import refuse_rest
from tilewright.compat.tilelang.utils.tensor import TensorSupplyType, torch_assert_close

build_date = "tilewright"


def deprecated(
    method_name: str, new_method_name: str, phaseout_version: str | None = None
) -> Callable[..., Any]:
    """Marks a function as deprecated: calling it warns."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            until = f", and goes away in {phaseout_version}" if phaseout_version else ""
            text = f"{method_name} is deprecated: use {new_method_name} instead{until}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def is_global(buffer: Any) -> bool:
    """Whether a buffer is in global memory."""
    return buffer.scope == "global"


def is_shared(buffer: Any) -> bool:
    """Whether a buffer is a shared tile."""
    return str(buffer.scope).startswith("shared")


def is_fragment(buffer: Any) -> bool:
    """Whether a buffer is a fragment."""
    return buffer.scope in ("fragment", "local.fragment")


def is_local(buffer: Any) -> bool:
    """Whether a buffer belongs to a thread."""
    return buffer.scope == "local"


__all__ = [
    "TensorSupplyType",
    "build_date",
    "deprecated",
    "is_fragment",
    "is_global",
    "is_local",
    "is_shared",
    "torch_assert_close",
]

refuse_rest(__name__)
