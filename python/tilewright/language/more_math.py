"""Scalar functions made of others: copysign, asin, hypot, ldexp, nextafter, clz, …

Floats narrower than float64 are computed in float64 and rounded once at the end, so that the value
is that of the real function. Python numbers give Python numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.trace import describe, dtype_of, is_kernel_value, is_scalar
from tilewright.language import scalars
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical

#: The integer with the bits of a float.
_BITS = {"float16": "uint16", "bfloat16": "uint16", "float32": "uint32", "float64": "uint64"}
_NARROW = ("float8_e4m3fn", "float8_e5m2", "tfloat32")


def constant(value: Any, dtype: str) -> Any:
    """A typed constant of the kernel."""
    return trace.require(f"T.{dtype}").core.constant(value, dtype)


def as_float(value: Any, what: str) -> Any:
    """A scalar as a float that can be computed with; integers become float32."""
    if not is_scalar(value):
        raise LanguageError(f"'{what}' needs a scalar, got {describe(value)}")
    dtype = dtype_of(value)
    if dtype in _BITS:
        return value if is_kernel_value(value) else constant(value, dtype)
    return scalars.cast(value, "float32")


def same_float(what: str, *values: Any) -> tuple[list[Any], str]:
    """Several scalars as one float type: that of the kernel values, the wider one if they differ.
    A Python number takes it."""
    known = [dtype_of(as_float(value, what)) for value in values if is_kernel_value(value)]
    for value in values:
        as_float(value, what)
    order = ["float16", "bfloat16", "float32", "float64"]
    if set(known) == {"float16", "bfloat16"}:
        known = ["float32"]
    dtype = max(known, key=order.index)
    return [scalars.cast(value, dtype) for value in values], dtype


def bits_of(value: Any) -> tuple[Any, str]:
    """The bits of a float as an unsigned integer, and its dtype."""
    kind = _BITS[dtype_of(value)]
    return scalars.reinterpret(value, kind), kind


def _sign_mask(kind: str) -> Any:
    return constant(1 << (canonical(kind).bits - 1), kind)


def _magnitude_mask(kind: str) -> Any:
    return constant((1 << (canonical(kind).bits - 1)) - 1, kind)


def copysign(x1: Any, x2: Any) -> Any:
    """The magnitude of `x1` with the sign of `x2`, also of zeros and NaNs.

    Example:
        C[i, j] = T.copysign(A[i, j], B[i, j])
    """
    if not is_kernel_value(x1) and not is_kernel_value(x2):
        return math.copysign(x1, x2)
    (x, y), dtype = same_float("T.copysign", x1, x2)
    x_bits, kind = bits_of(x)
    y_bits, _ = bits_of(y)
    return scalars.reinterpret(
        (x_bits & _magnitude_mask(kind)) | (y_bits & _sign_mask(kind)), dtype
    )


def _in_double(
    what: str, python: Callable[..., Any], wide: Callable[..., Any], *values: Any
) -> Any:
    """`wide` of the values as float64, rounded once to their type."""
    if not any(is_kernel_value(value) for value in values):
        try:
            return python(*values)
        except (ValueError, OverflowError) as error:
            raise LanguageError(f"'{what}' of {values!r}: {error}") from None
    values, dtype = same_float(what, *values)
    return scalars.cast(wide(*(scalars.cast(value, "float64") for value in values)), dtype)


def _f64(value: float) -> Any:
    return constant(float(value), "float64")


def _chord(x: Any) -> Any:
    """sqrt(1 - x * x), exact near 1."""
    return scalars.sqrt((_f64(1) - x) * (_f64(1) + x))


def asin(x: Any) -> Any:
    """The arc sine, in radians; NaN outside -1 … 1.

    Example:
        B[i, j] = T.asin(A[i, j])
    """
    return _in_double("T.asin", math.asin, lambda v: scalars.atan2(v, _chord(v)), x)


def acos(x: Any) -> Any:
    """The arc cosine, in radians; NaN outside -1 … 1.

    Example:
        B[i, j] = T.acos(A[i, j])
    """
    return _in_double("T.acos", math.acos, lambda v: scalars.atan2(_chord(v), v), x)


def asinh(x: Any) -> Any:
    """The inverse of the hyperbolic sine.

    Example:
        B[i, j] = T.asinh(A[i, j])
    """

    def wide(v: Any) -> Any:
        size = scalars.abs(v)
        square = size * size
        near = scalars.log1p(size + square / (_f64(1) + scalars.sqrt(square + _f64(1))))
        far = scalars.log(size) + _f64(math.log(2))
        return copysign(scalars.if_then_else(size < _f64(1e150), near, far), v)

    return _in_double("T.asinh", math.asinh, wide, x)


def acosh(x: Any) -> Any:
    """The inverse of the hyperbolic cosine; NaN below 1.

    Example:
        B[i, j] = T.acosh(A[i, j])
    """

    def wide(v: Any) -> Any:
        below = v - _f64(1)
        near = scalars.log1p(below + scalars.sqrt(below * (v + _f64(1))))
        far = scalars.log(v) + _f64(math.log(2))
        value = scalars.if_then_else(v < _f64(1e150), near, far)
        # Below -1 the root is a number again.
        return scalars.if_then_else(v < _f64(1), _f64(math.nan), value)

    return _in_double("T.acosh", math.acosh, wide, x)


def atanh(x: Any) -> Any:
    """The inverse of the hyperbolic tangent; NaN outside -1 … 1.

    Example:
        B[i, j] = T.atanh(A[i, j])
    """

    def wide(v: Any) -> Any:
        size = scalars.abs(v)
        half = _f64(0.5) * scalars.log1p(_f64(2) * size / (_f64(1) - size))
        return copysign(half, v)

    return _in_double("T.atanh", math.atanh, wide, x)


def hypot(x1: Any, x2: Any) -> Any:
    """sqrt(x1 * x1 + x2 * x2) without overflow in between; infinite if one side is.

    Example:
        C[i, j] = T.hypot(A[i, j], B[i, j])
    """

    def wide(a: Any, b: Any) -> Any:
        a, b = scalars.abs(a), scalars.abs(b)
        large, small = scalars.max(a, b), scalars.min(a, b)
        ratio = scalars.if_then_else(large == _f64(0), _f64(0), small / large)
        finite = large * scalars.sqrt(_f64(1) + ratio * ratio)
        either = scalars.isinf(a) | scalars.isinf(b)
        unknown = scalars.if_then_else(scalars.isnan(a) | scalars.isnan(b), a + b, finite)
        return scalars.if_then_else(either, _f64(math.inf), unknown)

    return _in_double("T.hypot", math.hypot, wide, x1, x2)


def ldexp(x1: Any, x2: Any) -> Any:
    """x1 * 2**x2 for an integer x2, rounded once.

    Example:
        B[i, j] = T.ldexp(A[i, j], N[i, j])
    """
    if not is_kernel_value(x1) and not is_kernel_value(x2):
        return math.ldexp(x1, x2)
    if "float" in dtype_of(x2):
        raise LanguageError(f"'T.ldexp' needs an integer exponent, got {describe(x2)}")
    value = as_float(x1, "T.ldexp")
    power = scalars.cast(scalars.min(scalars.max(x2, -4200), 4200), "int32")

    def two_to(exponent: Any) -> Any:
        biased = scalars.cast(exponent, "int64") + constant(1023, "int64")
        return scalars.reinterpret(biased << constant(52, "int64"), "float64")

    result = scalars.cast(value, "float64")
    # Large steps first: a step that leaves the range of float64 is the last one that matters.
    for _ in range(4):
        step = scalars.max(scalars.min(power, constant(1000, "int32")), constant(-1000, "int32"))
        result, power = result * two_to(step), power - step
    return scalars.cast(result * two_to(power), dtype_of(value))


def nextafter(x1: Any, x2: Any) -> Any:
    """The next float of the type after `x1` towards `x2`.

    Example:
        C[i, j] = T.nextafter(A[i, j], B[i, j])
    """
    if not is_kernel_value(x1) and not is_kernel_value(x2):
        return math.nextafter(x1, x2)
    (x, y), dtype = same_float("T.nextafter", x1, x2)
    bits, kind = bits_of(x)
    one, zero = constant(1, kind), constant(0.0, dtype)
    away = (y > x) == (x > zero)
    stepped = scalars.if_then_else(away, bits + one, bits - one)
    least = scalars.if_then_else(y > zero, one, one | _sign_mask(kind))  # from zero
    moved = scalars.reinterpret(scalars.if_then_else(x == zero, least, stepped), dtype)
    unordered = scalars.isnan(x) | scalars.isnan(y)
    return scalars.if_then_else(unordered, x + y, scalars.if_then_else(x == y, y, moved))


def _unsigned(value: Any, what: str) -> tuple[Any, int]:
    """The bits of an integer as unsigned, and how many they are; index values have 32."""
    dtype = dtype_of(value) if is_scalar(value) else ""
    if dtype == "index":
        dtype = "int32"
    if "int" not in dtype:
        raise LanguageError(f"'{what}' needs an integer, got {describe(value)}")
    bits = canonical(dtype).bits
    wide = 64 if bits == 64 else 32
    masked = scalars.cast(value, dtype)
    unsigned = scalars.cast(masked, f"uint{bits}") if dtype.startswith("int") else masked
    return scalars.cast(unsigned, f"uint{wide}"), bits


def _smeared(x: Any, wide: str) -> Any:
    """All bits below the highest one set."""
    for step in (1, 2, 4, 8, 16, 32):
        if step < canonical(wide).bits:
            x = x | (x >> constant(step, wide))
    return x


def clz(x: Any) -> Any:
    """How many zero bits stand before the highest one, as int32; the width for 0.

    Example:
        M[i, j] = T.clz(N[i, j])
    """
    if not is_kernel_value(x):
        return 32 - (int(x) & 0xFFFFFFFF).bit_length()
    value, bits = _unsigned(x, "T.clz")
    count = scalars.popcount(_smeared(value, dtype_of(value)))
    return constant(bits, "int32") - scalars.cast(count, "int32")


def ffs(x: Any) -> Any:
    """The place of the lowest set bit, counted from 1, as int32; 0 for 0.

    Example:
        M[i, j] = T.__ffs(N[i, j])
    """
    if not is_kernel_value(x):
        return (int(x) & -int(x)).bit_length()
    value, _ = _unsigned(x, "T.__ffs")
    kind = dtype_of(value)
    below = value ^ (value - constant(1, kind))  # the lowest set bit and all below it
    count = scalars.cast(scalars.popcount(below), "int32")
    return scalars.if_then_else(value == constant(0, kind), constant(0, "int32"), count)


def fast_rcp(x: Any) -> Any:
    """1 / x; whether it is approximate is the compiler's choice.

    Example:
        B[i, j] = T.fast_rcp(A[i, j])
    """
    if not is_kernel_value(x):
        return 1.0 / x
    value = as_float(x, "T.fast_rcp")
    return constant(1.0, dtype_of(value)) / value
