"""`tilelang.language.dtypes`: the element types by name, as the language itself has them."""

from __future__ import annotations

from typing import Any

from tilewright.types.dtypes import NAMED, dtype

__all__ = ["NAMED", "dtype"]


def __getattr__(name: str) -> Any:
    if name in NAMED:
        return NAMED[name]
    raise AttributeError(name)
