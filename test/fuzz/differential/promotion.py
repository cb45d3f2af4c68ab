"""In which type two operands meet: the rule of docs/semantics.md, written a second time."""

from __future__ import annotations

_RANKS = {"float8": 2, "bfloat16": 3, "float": 4, "uint": 1, "int": 1, "bool": 0}


def _kind(dtype: str) -> int:
    return next(rank for kind, rank in _RANKS.items() if dtype.startswith(kind))


def _bits(dtype: str) -> int:
    return int("".join(filter(str.isdigit, dtype.partition("_")[0])) or 1)


def meet(a: str, b: str) -> str:
    """The type of an operation on values of these types."""
    if _kind(a) != _kind(b):
        return max(a, b, key=_kind)
    if _bits(a) != _bits(b):
        return max(a, b, key=_bits)
    return a if a.startswith("u") else b


def literal_dtype(number: float) -> str:
    """The type of a Python number beside a typed value."""
    return "float32" if isinstance(number, float) else "int32"
