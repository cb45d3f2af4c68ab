"""Scalar functions. Python numbers give Python numbers; kernel values build IR."""

from __future__ import annotations

import math
from typing import Any

from tilewright._core import core
from tilewright.frontend import trace
from tilewright.frontend.loops import truth
from tilewright.frontend.trace import (
    IndexExpr,
    describe,
    dtype_of,
    is_kernel_value,
    is_scalar,
    plain,
)
from tilewright.language import folding
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical, is_dtype, narrow_name, outside_kernel, set_conversion


def _require_scalar(value: Any, what: str) -> Any:
    """`value`, a kernel value or a Python number."""
    if not is_scalar(value):
        raise LanguageError(f"'{what}' needs a scalar, got {describe(value)}")
    return plain(value)


def _unary(name: str, x: Any) -> Any:
    what = f"T.{name}"
    if is_kernel_value(x):
        return trace.require(what).core.unary(name, x)
    x = _require_scalar(x, what)
    if type(x) is float and name in _OF_INTEGERS:
        raise LanguageError(f"'{what}' needs an integer, got {describe(x)}")
    try:
        return folding.FLOATS[name](x)
    except (ValueError, OverflowError) as error:
        raise LanguageError(f"'{what}' of {x!r}: {error}") from None


def _unknown(*values: Any) -> Any:
    """One of the values that is a constant of an eager kernel in its first run, else None."""
    return next((value for value in values if hasattr(value, "tw_constant_name")), None)


def _binary(name: str, a: Any, b: Any) -> Any:
    what = f"T.{name}"
    if (unknown := _unknown(a, b)) is not None:
        return unknown.combine()
    a, b = _require_scalar(a, what), _require_scalar(b, what)
    if is_kernel_value(a) or is_kernel_value(b):
        return trace.require(what).core.binary(name, a, b)
    if name in _OF_INTEGERS and float in (type(a), type(b)):
        raise LanguageError(f"'{what}' needs integers, got {a!r} and {b!r}")
    try:
        return folding.PAIRS[name](a, b)
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        raise LanguageError(f"'{what}' of {a!r} and {b!r}: {error}") from None


_OF_INTEGERS = frozenset({"ceildiv", "shl", "shr", "and", "or", "xor", "bitnot", "popcount"})


# ---- Integers ----


def ceildiv(a: Any, b: Any) -> Any:
    """a / b rounded up, for integers of either sign; a Python int for Python ints.

    Example:
        for k in T.serial(T.ceildiv(100, 32)):  # 4 iterations
            B[k, 0] = A[k, 0]
    """
    if is_kernel_value(a) or is_kernel_value(b):
        a, b = _require_scalar(a, "T.ceildiv"), _require_scalar(b, "T.ceildiv")
        kinds = {dtype_of(a), dtype_of(b)}
        if any("float" in kind for kind in kinds):
            raise LanguageError(f"'T.ceildiv' needs integers, got {describe(a)} and {describe(b)}")
        if kinds != {"index"}:
            return _typed_ceildiv(a, b)
        return (a + (b - 1)) // b if type(b) is int and b > 0 else -(-a // b)
    return _binary("ceildiv", a, b)


def _typed_ceildiv(a: Any, b: Any) -> Any:
    """Without a sum that could wrap: one more than the floor where a remainder is left."""
    read = trace.require("T.ceildiv").core.materialize
    a, b = (read(value) if is_kernel_value(value) else value for value in (a, b))
    quotient = a // b
    return quotient + ((quotient * b != a) & (b != 0))


def align_up(value: Any, alignment: Any) -> Any:
    """The least multiple of `alignment` that is not less than `value`.

    Example:
        B[0, 0] = T.align_up(100, 64)  # 128
    """
    return ceildiv(value, alignment) * alignment


def floordiv(a: Any, b: Any) -> Any:
    """a / b rounded down, as `//`.

    Example:
        M[i, j] = T.floordiv(N[i, j], 7)
    """
    if type(a) is IndexExpr or type(b) is IndexExpr:
        return a // b
    return _binary("floordiv", a, b)


def floormod(a: Any, b: Any) -> Any:
    """The remainder of `T.floordiv`, as `%`.

    Example:
        M[i, j] = T.floormod(N[i, j], 7)
    """
    if type(a) is IndexExpr or type(b) is IndexExpr:
        return a % b
    return _binary("floormod", a, b)


def truncdiv(a: Any, b: Any) -> Any:
    """a / b rounded towards zero, as C's `/`.

    Example:
        M[i, j] = T.truncdiv(N[i, j], 7)
    """
    return _binary("truncdiv", a, b)


def truncmod(a: Any, b: Any) -> Any:
    """The remainder of `T.truncdiv`, as C's `%`.

    Example:
        M[i, j] = T.truncmod(N[i, j], 7)
    """
    return _binary("truncmod", a, b)


def shift_left(a: Any, b: Any) -> Any:
    """a << b; 0 where b is the width or more.

    Example:
        M[i, j] = T.shift_left(N[i, j], 2)
    """
    return _binary("shl", a, b)


def shift_right(a: Any, b: Any) -> Any:
    """a >> b, keeping the sign of signed integers.

    Example:
        M[i, j] = T.shift_right(N[i, j], 2)
    """
    return _binary("shr", a, b)


def bitwise_and(a: Any, b: Any) -> Any:
    """a & b.

    Example:
        M[i, j] = T.bitwise_and(N[i, j], 7)
    """
    return _binary("and", a, b)


def bitwise_or(a: Any, b: Any) -> Any:
    """a | b.

    Example:
        M[i, j] = T.bitwise_or(N[i, j], 7)
    """
    return _binary("or", a, b)


def bitwise_xor(a: Any, b: Any) -> Any:
    """a ^ b.

    Example:
        M[i, j] = T.bitwise_xor(N[i, j], 7)
    """
    return _binary("xor", a, b)


def bitwise_not(a: Any) -> Any:
    """~a.

    Example:
        M[i, j] = T.bitwise_not(N[i, j])
    """
    return _unary("bitnot", a)


def popcount(x: Any) -> Any:
    """The number of set bits.

    Example:
        M[i, j] = T.popcount(N[i, j])
    """
    return _unary("popcount", x)


# ---- Choices ----


def _symbolic(name: str, a: Any, b: Any) -> Any:
    """min and max of index expressions work without a trace, for shapes and layouts."""
    if trace.active() is None and (type(a) is IndexExpr or type(b) is IndexExpr):
        symbol, other = (a, b) if type(a) is IndexExpr else (b, a)
        return getattr(symbol, name)(other)
    return _binary(name, a, b)


def min(a: Any, b: Any) -> Any:
    """The smaller of two scalars; a NaN loses.

    Example:
        C[i, j] = T.min(A[i, j], B[i, j])
    """
    return _symbolic("min", a, b)


def max(a: Any, b: Any) -> Any:
    """The larger of two scalars; a NaN loses.

    Example:
        C[i, j] = T.max(A[i, j], B[i, j])
    """
    return _symbolic("max", a, b)


def clamp(x: Any, min_val: Any, max_val: Any) -> Any:
    """min(max(x, min_val), max_val).

    Example:
        B[i, j] = T.clamp(A[i, j], -1.0, 1.0)
    """
    return min(max(x, min_val), max_val)


def __ldg(value: Any, index: Any = None) -> Any:
    """An element, read; `index` says which one of a tensor. Whether a cache may keep it is decided
    by what the kernel writes.

    Example:
        B[i, j] = T.__ldg(A[i, j])
    """
    return value if index is None else value[index]


def if_then_else(cond: Any, true_value: Any, false_value: Any) -> Any:
    """`true_value` where `cond` holds, else `false_value`; only the taken side is evaluated.

    Example:
        B[i, j] = T.if_then_else(i >= j, A[i, j], 0.0)
    """
    if not is_kernel_value(cond):
        return _chosen(true_value, false_value) if cond else _chosen(false_value, true_value)
    state = trace.require("T.if_then_else")
    for value in (true_value, false_value):
        _require_scalar(value, "T.if_then_else")
    return state.core.if_then_else(truth(state, cond), true_value, false_value)


def _chosen(value: Any, other: Any) -> Any:
    """`value` in the dtype that it would have if the kernel chose between the two."""
    state = trace.active()
    if state is None or not is_scalar(value) or not is_scalar(other):
        return value
    dtype = state.core.common_dtype(value, other)
    if dtype in (dtype_of(value), "index"):
        return value
    is_number = not is_kernel_value(value) and not is_kernel_value(other)
    return float(value) if is_number else state.core.cast(value, dtype)


def Select(cond: Any, true_value: Any, false_value: Any) -> Any:
    """As `T.if_then_else`.

    Example:
        B[i, j] = T.Select(i >= j, A[i, j], 0.0)
    """
    return if_then_else(cond, true_value, false_value)


# ---- Floats ----


def abs(x: Any) -> Any:
    """The absolute value.

    Example:
        B[i, j] = T.abs(A[i, j])
    """
    return _unary("abs", x)


def exp(x: Any) -> Any:
    """e**x.

    Example:
        B[i, j] = T.exp(A[i, j])
    """
    return _unary("exp", x)


def exp2(x: Any) -> Any:
    """2**x.

    Example:
        B[i, j] = T.exp2(A[i, j])
    """
    return _unary("exp2", x)


def exp10(x: Any) -> Any:
    """10**x.

    Example:
        B[i, j] = T.exp10(A[i, j])
    """
    return _unary("exp10", x)


def log(x: Any) -> Any:
    """The natural logarithm.

    Example:
        B[i, j] = T.log(A[i, j])
    """
    return _unary("log", x)


def log2(x: Any) -> Any:
    """The logarithm to base 2.

    Example:
        B[i, j] = T.log2(A[i, j])
    """
    return _unary("log2", x)


def log10(x: Any) -> Any:
    """The logarithm to base 10.

    Example:
        B[i, j] = T.log10(A[i, j])
    """
    return _unary("log10", x)


def log1p(x: Any) -> Any:
    """log(1 + x), exact for small x.

    Example:
        B[i, j] = T.log1p(A[i, j])
    """
    return _unary("log1p", x)


def sqrt(x: Any) -> Any:
    """The square root.

    Example:
        B[i, j] = T.sqrt(A[i, j])
    """
    return _unary("sqrt", x)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x).

    Example:
        B[i, j] = T.rsqrt(A[i, j])
    """
    return _unary("rsqrt", x)


def sin(x: Any) -> Any:
    """The sine of an angle in radians.

    Example:
        B[i, j] = T.sin(A[i, j])
    """
    return _unary("sin", x)


def cos(x: Any) -> Any:
    """The cosine of an angle in radians.

    Example:
        B[i, j] = T.cos(A[i, j])
    """
    return _unary("cos", x)


def tan(x: Any) -> Any:
    """The tangent of an angle in radians.

    Example:
        B[i, j] = T.tan(A[i, j])
    """
    return _unary("tan", x)


def atan(x: Any) -> Any:
    """The arc tangent, in radians.

    Example:
        B[i, j] = T.atan(A[i, j])
    """
    return _unary("atan", x)


def sinh(x: Any) -> Any:
    """The hyperbolic sine.

    Example:
        B[i, j] = T.sinh(A[i, j])
    """
    return _unary("sinh", x)


def cosh(x: Any) -> Any:
    """The hyperbolic cosine.

    Example:
        B[i, j] = T.cosh(A[i, j])
    """
    return _unary("cosh", x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent.

    Example:
        B[i, j] = T.tanh(A[i, j])
    """
    return _unary("tanh", x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)).

    Example:
        B[i, j] = T.sigmoid(A[i, j])
    """
    return _unary("sigmoid", x)


def erf(x: Any) -> Any:
    """The error function.

    Example:
        B[i, j] = T.erf(A[i, j])
    """
    return _unary("erf", x)


def floor(x: Any) -> Any:
    """The largest integer value not above x, as a float.

    Example:
        B[i, j] = T.floor(A[i, j])
    """
    return _unary("floor", x)


def ceil(x: Any) -> Any:
    """The smallest integer value not below x, as a float.

    Example:
        B[i, j] = T.ceil(A[i, j])
    """
    return _unary("ceil", x)


def round(x: Any) -> Any:
    """The nearest integer value, halves to even, as a float.

    Example:
        B[i, j] = T.round(A[i, j])
    """
    return _unary("round", x)


def nearbyint(x: Any) -> Any:
    """As `T.round`.

    Example:
        B[i, j] = T.nearbyint(A[i, j])
    """
    return round(x)


def trunc(x: Any) -> Any:
    """The integer part, as a float.

    Example:
        B[i, j] = T.trunc(A[i, j])
    """
    return _unary("trunc", x)


def isnan(x: Any) -> Any:
    """True for NaN.

    Example:
        B[i, j] = T.if_then_else(T.isnan(A[i, j]), 1.0, 0.0)
    """
    return _unary("isnan", x)


def isinf(x: Any) -> Any:
    """True for the two infinities.

    Example:
        B[i, j] = T.if_then_else(T.isinf(A[i, j]), 1.0, 0.0)
    """
    return _unary("isinf", x)


def isfinite(x: Any) -> Any:
    """True for everything but NaN and the infinities.

    Example:
        B[i, j] = T.if_then_else(T.isfinite(A[i, j]), 1.0, 0.0)
    """
    return _unary("isfinite", x)


def pow(x: Any, y: Any) -> Any:
    """x to the power of y.

    Example:
        C[i, j] = T.pow(A[i, j], B[i, j])
    """
    return _binary("pow", x, y)


def fmod(x: Any, y: Any) -> Any:
    """The remainder of x / y with the sign of x.

    Example:
        C[i, j] = T.fmod(A[i, j], B[i, j])
    """
    return _binary("fmod", x, y)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), in radians.

    Example:
        C[i, j] = T.atan2(A[i, j], B[i, j])
    """
    return _binary("atan2", y, x)


# ---- Types and constants ----


def _narrow_kind(dtype: Any) -> Any:
    """How a type of four bits is kept; None for other types."""
    if narrow_name(dtype) is None:
        return None
    from tilewright.language.narrow import kind_of

    return kind_of(dtype)


def convert(value: Any, dtype: Any) -> Any:
    """What calling a dtype does: `T.int32(x)` converts, `T.int32(5)` is a typed constant."""
    narrow = _narrow_kind(dtype)
    if narrow is not None:
        return narrow.rounded(_require_scalar(value, f"T.{dtype}"))
    kind = canonical(dtype)
    state = trace.active()
    if state is None:
        raise outside_kernel(kind)
    return state.core.cast(_require_scalar(value, f"T.{kind}"), str(kind))


set_conversion(convert)


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

    Example:
        H[i, j] = T.cast(A[i, j], "float16")
    """
    narrow = _narrow_kind(dtype)
    if narrow is not None and round in (None, "", "rn") and rbits is None:
        return narrow.rounded(_require_scalar(value, "T.cast"))
    name = str(canonical(dtype))
    _require_scalar(value, "T.cast")
    if rbits is not None or round == "rs":
        raise LanguageError("'T.cast' with stochastic rounding is not supported yet")
    if round not in _ROUNDINGS:
        raise LanguageError(f"'T.cast': round is one of 'rn', 'rz', 'rm', 'rp'; got {round!r}")
    state = trace.require("T.cast")
    return state.core.cast(value, name, _ROUNDINGS[round], bool(sat))


def Cast(dtype: Any, value: Any) -> Any:
    """`T.cast` with the type first.

    Example:
        H[i, j] = T.Cast("float16", A[i, j])
    """
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
    """Positive infinity of a float type; negate it for the other one.

    Example:
        B[i, j] = -T.infinity("float32")
    """
    kind = canonical(dtype)
    if not kind.is_float() or kind == "float8_e4m3fn":
        raise LanguageError(f"'T.infinity': {kind} has no infinity", hint="use T.max_value(dtype)")
    if kind == "float8_e5m2" and (state := trace.active()) is not None:
        # A number that takes this type saturates: only the bits give the infinity.
        return state.core.bitcast(state.core.constant(0x7C, "uint8"), str(kind))
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
    """The largest finite value of a type.

    Example:
        B[i, j] = T.max_value("float16")
    """
    if narrow_name(dtype) is not None:
        limits = {"float4_e2m1fn": 6.0, "int4": 7, "uint4": 15}
        return _constant(limits[str(narrow_name(dtype))], _narrow_kind(dtype).carrier)
    kind = canonical(dtype)
    if kind == "bool":
        return _constant(True, kind)
    if kind.is_float():
        return _constant(_LARGEST[str(kind)], kind)
    return _constant((1 << (kind.bits - (0 if kind.startswith("u") else 1))) - 1, kind)


def min_value(dtype: Any) -> Any:
    """The smallest (most negative) finite value of a type.

    Example:
        B[i, j] = T.min_value("float16")
    """
    if narrow_name(dtype) is not None:
        limits = {"float4_e2m1fn": -6.0, "int4": -8, "uint4": 0}
        return _constant(limits[str(narrow_name(dtype))], _narrow_kind(dtype).carrier)
    kind = canonical(dtype)
    if kind == "bool":
        return _constant(False, kind)
    if kind.is_float():
        return _constant(-_LARGEST[str(kind)], kind)
    return _constant(0 if kind.startswith("u") else -(1 << (kind.bits - 1)), kind)


def dynamic(name: str, dtype: Any = "int32") -> Any:
    """A run-time extent, bound from the tensors at each call: `m = T.dynamic("m")`.

    Several names, "m, n", give a tuple.

    Example:
        n = T.dynamic("n")

        @T.prim_func
        def main(A: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
                for i in T.Parallel(64):
                    A[bx * 64 + i] = 1.0
    """
    if not isinstance(name, str) or not name.replace(",", " ").split():
        raise LanguageError(f"'T.dynamic' takes a name, got {name!r}")
    symbols = tuple(core.IndexExpr.symbol(part) for part in name.replace(",", " ").split())
    return symbols[0] if len(symbols) == 1 else symbols


def symbolic(name: str, dtype: Any = "int32") -> Any:
    """The old name of `T.dynamic`.

    Example:
        n = T.symbolic("n")

        @T.prim_func
        def main(A: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
                for i in T.Parallel(64):
                    A[bx * 64 + i] = 1.0
    """
    return dynamic(name, dtype)
