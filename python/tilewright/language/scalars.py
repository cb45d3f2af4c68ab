"""Scalar functions. Python numbers give Python numbers; kernel values build IR."""

from __future__ import annotations

import math
from typing import Any

from tilewright._core import core
from tilewright.dtypes import canonical, is_dtype
from tilewright.errors import LanguageError
from tilewright.frontend import trace
from tilewright.frontend.loops import truth
from tilewright.frontend.trace import IndexExpr, describe, is_kernel_value, is_scalar

# Python's own; the language's names hide them below.
min_, max_, abs_, round_ = min, max, abs, round


def _require_scalar(value: Any, what: str) -> Any:
    if not is_scalar(value):
        raise LanguageError(f"'{what}' needs a scalar, got {describe(value)}")
    return value


def _unary(name: str, python: Any, x: Any) -> Any:
    what = f"T.{name}"
    if is_kernel_value(x):
        return trace.require(what).core.unary(name, x)
    _require_scalar(x, what)
    try:
        return python(x)
    except (ValueError, OverflowError) as error:
        raise LanguageError(f"'{what}' of {x!r}: {error}") from None


def _unknown(*values: Any) -> Any:
    """One of the values that is a constant of an eager kernel in its first run, else None."""
    return next((value for value in values if hasattr(value, "tw_constant_name")), None)


def _binary(name: str, python: Any, a: Any, b: Any) -> Any:
    what = f"T.{name}"
    if (unknown := _unknown(a, b)) is not None:
        return unknown.combine()
    _require_scalar(a, what)
    _require_scalar(b, what)
    if is_kernel_value(a) or is_kernel_value(b):
        return trace.require(what).core.binary(name, a, b)
    try:
        return python(a, b)
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        raise LanguageError(f"'{what}' of {a!r} and {b!r}: {error}") from None


# ---- Integers ----


def ceildiv(a: Any, b: Any) -> Any:
    """a / b rounded up; a Python int for Python ints."""
    if (unknown := _unknown(a, b)) is not None:
        return unknown.combine()
    _require_scalar(a, "T.ceildiv")
    _require_scalar(b, "T.ceildiv")
    if is_kernel_value(a) or is_kernel_value(b):
        return (a + (b - 1)) // b
    if b == 0:
        raise LanguageError(f"'T.ceildiv' of {a} by 0")
    return -(-a // b)


def align_up(value: Any, alignment: Any) -> Any:
    """The least multiple of `alignment` that is not less than `value`."""
    return ceildiv(value, alignment) * alignment


def floordiv(a: Any, b: Any) -> Any:
    """a / b rounded down, as `//`."""
    if type(a) is IndexExpr or type(b) is IndexExpr:
        return a // b
    return _binary("floordiv", lambda x, y: x // y, a, b)


def floormod(a: Any, b: Any) -> Any:
    """The remainder of `T.floordiv`, as `%`."""
    if type(a) is IndexExpr or type(b) is IndexExpr:
        return a % b
    return _binary("floormod", lambda x, y: x % y, a, b)


def truncdiv(a: Any, b: Any) -> Any:
    """a / b rounded towards zero, as C's `/`."""
    return _binary("truncdiv", _python_truncdiv, a, b)


def _python_truncdiv(a: int, b: int) -> int:
    quotient = abs_(a) // abs_(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def truncmod(a: Any, b: Any) -> Any:
    """The remainder of `T.truncdiv`, as C's `%`."""
    return _binary("truncmod", lambda x, y: int(math.fmod(x, y)), a, b)


def shift_left(a: Any, b: Any) -> Any:
    """a << b; 0 where b is the width or more."""
    return _binary("shl", lambda x, y: x << y, a, b)


def shift_right(a: Any, b: Any) -> Any:
    """a >> b, keeping the sign of signed integers."""
    return _binary("shr", lambda x, y: x >> y, a, b)


def bitwise_and(a: Any, b: Any) -> Any:
    """a & b."""
    return _binary("and", lambda x, y: x & y, a, b)


def bitwise_or(a: Any, b: Any) -> Any:
    """a | b."""
    return _binary("or", lambda x, y: x | y, a, b)


def bitwise_xor(a: Any, b: Any) -> Any:
    """a ^ b."""
    return _binary("xor", lambda x, y: x ^ y, a, b)


def bitwise_not(a: Any) -> Any:
    """~a."""
    return _unary("bitnot", lambda x: ~x, a)


def popcount(x: Any) -> Any:
    """The number of set bits."""
    return _unary("popcount", lambda v: v.bit_count(), x)


# ---- Choices ----


def _symbolic(name: str, a: Any, b: Any) -> Any:
    """min and max of index expressions work without a trace, for shapes and layouts."""
    if trace.active() is None and (type(a) is IndexExpr or type(b) is IndexExpr):
        symbol, other = (a, b) if type(a) is IndexExpr else (b, a)
        return getattr(symbol, name)(other)
    return _binary(name, min_ if name == "min" else max_, a, b)


def min(a: Any, b: Any) -> Any:
    """The smaller of two scalars; a NaN loses."""
    return _symbolic("min", a, b)


def max(a: Any, b: Any) -> Any:
    """The larger of two scalars; a NaN loses."""
    return _symbolic("max", a, b)


def clamp(x: Any, min_val: Any, max_val: Any) -> Any:
    """min(max(x, min_val), max_val)."""
    return min(max(x, min_val), max_val)


def __ldg(value: Any, index: Any = None) -> Any:
    """An element, read; `index` says which one of a tensor. Whether a cache may keep it is decided
    by what the kernel writes."""
    return value if index is None else value[index]


def if_then_else(cond: Any, true_value: Any, false_value: Any) -> Any:
    """`true_value` where `cond` holds, else `false_value`; only the taken side is evaluated."""
    if not is_kernel_value(cond):
        return true_value if cond else false_value
    state = trace.require("T.if_then_else")
    for value in (true_value, false_value):
        _require_scalar(value, "T.if_then_else")
    return state.core.if_then_else(truth(state, cond), true_value, false_value)


def Select(cond: Any, true_value: Any, false_value: Any) -> Any:
    """As `T.if_then_else`."""
    return if_then_else(cond, true_value, false_value)


# ---- Floats ----


def abs(x: Any) -> Any:
    """The absolute value."""
    return _unary("abs", abs_, x)


def exp(x: Any) -> Any:
    """e**x."""
    return _unary("exp", math.exp, x)


def exp2(x: Any) -> Any:
    """2**x."""
    return _unary("exp2", lambda v: 2.0**v, x)


def exp10(x: Any) -> Any:
    """10**x."""
    return _unary("exp10", lambda v: 10.0**v, x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    return _unary("log", math.log, x)


def log2(x: Any) -> Any:
    """The logarithm to base 2."""
    return _unary("log2", math.log2, x)


def log10(x: Any) -> Any:
    """The logarithm to base 10."""
    return _unary("log10", math.log10, x)


def log1p(x: Any) -> Any:
    """log(1 + x), exact for small x."""
    return _unary("log1p", math.log1p, x)


def sqrt(x: Any) -> Any:
    """The square root."""
    return _unary("sqrt", math.sqrt, x)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""
    return _unary("rsqrt", lambda v: 1.0 / math.sqrt(v), x)


def sin(x: Any) -> Any:
    """The sine of an angle in radians."""
    return _unary("sin", math.sin, x)


def cos(x: Any) -> Any:
    """The cosine of an angle in radians."""
    return _unary("cos", math.cos, x)


def tan(x: Any) -> Any:
    """The tangent of an angle in radians."""
    return _unary("tan", math.tan, x)


def atan(x: Any) -> Any:
    """The arc tangent, in radians."""
    return _unary("atan", math.atan, x)


def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    return _unary("sinh", math.sinh, x)


def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    return _unary("cosh", math.cosh, x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return _unary("tanh", math.tanh, x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return _unary("sigmoid", lambda v: 1.0 / (1.0 + math.exp(-v)), x)


def erf(x: Any) -> Any:
    """The error function."""
    return _unary("erf", math.erf, x)


def floor(x: Any) -> Any:
    """The largest integer value not above x, as a float."""
    return _unary("floor", math.floor, x)


def ceil(x: Any) -> Any:
    """The smallest integer value not below x, as a float."""
    return _unary("ceil", math.ceil, x)


def round(x: Any) -> Any:
    """The nearest integer value, halves to even, as a float."""
    return _unary("round", round_, x)


def nearbyint(x: Any) -> Any:
    """As `T.round`."""
    return round(x)


def trunc(x: Any) -> Any:
    """The integer part, as a float."""
    return _unary("trunc", math.trunc, x)


def isnan(x: Any) -> Any:
    """True for NaN."""
    return _unary("isnan", math.isnan, x)


def isinf(x: Any) -> Any:
    """True for the two infinities."""
    return _unary("isinf", math.isinf, x)


def isfinite(x: Any) -> Any:
    """True for everything but NaN and the infinities."""
    return _unary("isfinite", math.isfinite, x)


def pow(x: Any, y: Any) -> Any:
    """x to the power of y."""
    return _binary("pow", lambda a, b: a**b, x, y)


def fmod(x: Any, y: Any) -> Any:
    """The remainder of x / y with the sign of x."""
    return _binary("fmod", math.fmod, x, y)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), in radians."""
    return _binary("atan2", math.atan2, y, x)


# ---- Types and constants ----


def convert(value: Any, dtype: Any) -> Any:
    """What calling a dtype does: `T.int32(x)` converts, `T.int32(5)` is a typed constant."""
    name = str(canonical(dtype))
    state = trace.active()
    if state is None:
        raise LanguageError(
            f"'T.{name}(...)' is only allowed inside a kernel", hint="a Python number needs no type"
        )
    _require_scalar(value, f"T.{name}")
    if is_kernel_value(value):
        return state.core.cast(value, name)
    return state.core.constant(value, name)


_ROUNDINGS = {
    None: "nearest_even",
    "": "nearest_even",
    "rn": "nearest_even",
    "rz": "toward_zero",
    "rm": "downward",
    "rp": "upward",
}


def cast(
    value: Any, dtype: Any, *, round: str | None = None, rbits: Any = None, sat: bool = False
) -> Any:
    """`value` as `dtype`: floats round to nearest even, floats to ints truncate and saturate.

    `round` is "rn" (nearest), "rz" (toward zero), "rm" (down) or "rp" (up); `sat=True` saturates
    instead of giving infinities.
    """
    name = str(canonical(dtype))
    _require_scalar(value, "T.cast")
    if rbits is not None or round == "rs":
        raise LanguageError("'T.cast' with stochastic rounding is not supported yet")
    if round not in _ROUNDINGS:
        raise LanguageError(f"'T.cast': round is one of 'rn', 'rz', 'rm', 'rp'; got {round!r}")
    state = trace.require("T.cast")
    return state.core.cast(value, name, _ROUNDINGS[round], bool(sat))


def Cast(dtype: Any, value: Any) -> Any:
    """`T.cast` with the type first."""
    return cast(value, dtype)


def reinterpret(value: Any, dtype: Any) -> Any:
    """The bits of `value` as a `dtype` of the same width."""
    if is_dtype(value) and not is_dtype(dtype):
        value, dtype = dtype, value
    if dtype == "handle":
        return value  # TVM's null pointer in the third argument of T.attr, which nothing reads
    _require_scalar(value, "T.reinterpret")
    return trace.require("T.reinterpret").core.bitcast(value, str(canonical(dtype)))


def _constant(value: Any, dtype: Any) -> Any:
    state = trace.active()
    return value if state is None else state.core.constant(value, str(dtype))


def infinity(dtype: Any) -> Any:
    """Positive infinity of a float type; negate it for the other one."""
    kind = canonical(dtype)
    if not kind.is_float() or kind == "float8_e4m3fn":
        raise LanguageError(f"'T.infinity': {kind} has no infinity", hint="use T.max_value(dtype)")
    return _constant(math.inf, kind)


_LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "tfloat32": 3.4011621342146535e38,
    "float64": 1.7976931348623157e308,
    "float8_e4m3fn": 448.0,
    "float8_e5m2": 57344.0,
}


def max_value(dtype: Any) -> Any:
    """The largest finite value of a type."""
    kind = canonical(dtype)
    if kind == "bool":
        return _constant(True, kind)
    if kind.is_float():
        return _constant(_LARGEST[str(kind)], kind)
    return _constant((1 << (kind.bits - (0 if kind.startswith("u") else 1))) - 1, kind)


def min_value(dtype: Any) -> Any:
    """The smallest (most negative) finite value of a type."""
    kind = canonical(dtype)
    if kind == "bool":
        return _constant(False, kind)
    if kind.is_float():
        return _constant(-_LARGEST[str(kind)], kind)
    return _constant(0 if kind.startswith("u") else -(1 << (kind.bits - 1)), kind)


def dynamic(name: str, dtype: Any = "int32") -> Any:
    """A run-time extent, bound from the tensors at each call: `m = T.dynamic("m")`.

    Several names, "m, n", give a tuple.
    """
    if not isinstance(name, str) or not name.replace(",", " ").split():
        raise LanguageError(f"'T.dynamic' takes a name, got {name!r}")
    symbols = tuple(core.IndexExpr.symbol(part) for part in name.replace(",", " ").split())
    return symbols[0] if len(symbols) == 1 else symbols


def symbolic(name: str, dtype: Any = "int32") -> Any:
    """The old name of `T.dynamic`."""
    return dynamic(name, dtype)
