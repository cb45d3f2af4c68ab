"""`tilelang.language.dtypes`: the element types by name, as the language itself has them."""

from __future__ import annotations

from typing import Any

from tilewright.types.dtypes import EXPORTED, NAMED, canonical, dtype

__all__ = ["NAMED", "dtype"]


def resolve_torch_storage_dtype(value: Any) -> dtype:
    """The type of torch's that holds such elements, as a type of the language."""
    return canonical(canonical(value).as_torch())


def _torch_names() -> dict[Any, str]:
    """The names of torch's types."""
    import torch

    names = [name for name in (*EXPORTED, *NAMED) if name == str(dtype(name))]
    found = {getattr(torch, name, None): name for name in names}
    return {kind: name for kind, name in found.items() if kind is not None}


def __getattr__(name: str) -> Any:
    if name in NAMED:
        return NAMED[name]
    if name == "_all_dtypes":  # programs list what they test
        from tilewright.language import names

        return [row.name for row in names.table().values() if row.is_dtype or row.name in EXPORTED]
    if name == "_TORCH_DTYPE_TO_STR":
        return _torch_names()
    raise AttributeError(name)
