"""Expressions under TVM's names."""

from __future__ import annotations

from typing import Any

from tilewright.dtypes import canonical
from tilewright.frontend import trace
from tilewright.frontend.trace import Expr, is_kernel_value
from tilewright.language import scalars
from tilewright.language.scalars import (
    abs,
    ceil,
    ceildiv,
    exp,
    exp2,
    floor,
    floordiv,
    floormod,
    if_then_else,
    infinity,
    isnan,
    log,
    log2,
    max_value,
    min_value,
    pow,
    round,
    rsqrt,
    sigmoid,
    sqrt,
    tanh,
    trunc,
    truncdiv,
    truncmod,
)

PrimExpr = Expr


def const(value: Any, dtype: Any = "int32") -> Any:
    """A number of this type."""
    if is_kernel_value(value):
        return value
    return canonical(dtype)(value)


def reinterpret(dtype: Any, value: Any) -> Any:
    """The bits of `value` under another type."""
    return scalars.reinterpret(trace.require("tirx.reinterpret").core.materialize(value), dtype)


def Cast(dtype: Any, value: Any) -> Any:
    """`value` converted to another type."""
    return scalars.cast(value, dtype)


__all__ = [
    "Cast",
    "PrimExpr",
    "abs",
    "ceil",
    "ceildiv",
    "const",
    "exp",
    "exp2",
    "floor",
    "floordiv",
    "floormod",
    "if_then_else",
    "infinity",
    "isnan",
    "log",
    "log2",
    "max_value",
    "min_value",
    "pow",
    "reinterpret",
    "round",
    "rsqrt",
    "sigmoid",
    "sqrt",
    "tanh",
    "trunc",
    "truncdiv",
    "truncmod",
]
