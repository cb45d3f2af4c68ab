"""Expressions under TVM's names; `tvm.tir` is the same module."""

from __future__ import annotations

from functools import reduce
from typing import Any

from tilewright import language
from tilewright.compat.tvm.tirx.nodes import Call, Evaluate, PrimFunc
from tilewright.frontend import trace
from tilewright.frontend.trace import Buffer, is_kernel_value
from tilewright.language import scalars
from tilewright.language.value_kinds import BufferLoad, FloatImm, IntImm, PrimExpr, StringImm
from tilewright.support.not_part import refuse_names
from tilewright.types.dtypes import canonical

#: Names that mean here what they mean in `tilelang.language`.
_OF_THE_LANGUAGE = frozenset(
    """
    abs acos acosh address_of asin asinh assume atan atan2 atanh bitwise_and bitwise_not bitwise_or
    bitwise_xor call_extern call_intrin call_pure_extern ceil ceildiv clz copysign cos cosh erf exp
    exp10 exp2 fabs floor floordiv floormod fmod hypot if_then_else infinity isfinite isinf isnan
    ldexp likely log log10 log1p log2 max max_value min min_value nearbyint nextafter popcount pow
    round rsqrt shift_left shift_right sigmoid sin sinh sqrt tan tanh trunc truncdiv truncmod
    tvm_access_ptr type_annotation And Or Not Select Broadcast Ramp Shuffle Var
    """.split()
)

_refused = refuse_names(
    "tvm.tirx", "Tilewright has no TVM IR; write kernels with tilelang.language"
)


def const(value: Any, dtype: Any = "int32", span: Any = None) -> Any:
    """A number of this type."""
    if is_kernel_value(value):
        return value
    return canonical(dtype)(value)


def reinterpret(dtype: Any, value: Any, span: Any = None) -> Any:
    """The bits of `value` under another type."""
    return scalars.reinterpret(trace.require("tirx.reinterpret").core.materialize(value), dtype)


def Cast(dtype: Any, value: Any, span: Any = None) -> Any:
    """`value` converted to another type."""
    return scalars.cast(value, dtype)


def all(*conditions: Any, span: Any = None) -> Any:
    """Whether all conditions hold."""
    return reduce(scalars.bitwise_and, conditions)


def any(*conditions: Any, span: Any = None) -> Any:
    """Whether one of the conditions holds."""
    return reduce(scalars.bitwise_or, conditions)


def __getattr__(name: str) -> Any:
    found = getattr(language, name, None) if name in _OF_THE_LANGUAGE else None
    return _refused(name) if found is None else found


__all__ = [
    "Buffer",
    "BufferLoad",
    "Call",
    "Cast",
    "Evaluate",
    "FloatImm",
    "IntImm",
    "PrimExpr",
    "PrimFunc",
    "StringImm",
    "all",
    "any",
    "const",
    "reinterpret",
]
