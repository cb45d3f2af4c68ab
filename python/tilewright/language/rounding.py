"""Arithmetic with a rounding mode: `T.ieee_add(x, y, "rz")`, and the fused `T.fma`.

The exact result lies at a float64, or beside one on a known side: sums and products of narrower
floats are formed in float64 with the error of the addition (Knuth's two-sum), quotients and roots
of 24 bits cannot come so near to a float32 that the rounding to float64 hides on which side. The
conversion to the result's type then rounds once, in the requested mode.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import dtype_of, is_kernel_value
from tilewright.language import scalars
from tilewright.language.more_math import constant, same_float
from tilewright.support.errors import LanguageError

_MODES = {"rn": "rn", "rz": "rz", "ru": "rp", "rd": "rm"}


def _operands(what: str, mode: Any, *values: Any) -> tuple[list[Any], str, str]:
    if mode not in _MODES:
        raise LanguageError(
            f"'{what}': the rounding mode is 'rn', 'rz', 'ru' or 'rd', got {mode!r}"
        )
    if not any(is_kernel_value(value) for value in values):
        raise LanguageError(f"'{what}' needs a value of the kernel", hint="compute it in Python")
    operands, dtype = same_float(what, *values)
    if dtype == "float64" and mode != "rn":
        raise LanguageError(
            f"'{what}' of float64 rounds to nearest only, got the rounding mode {mode!r}"
        )
    return operands, dtype, _MODES[mode]


def _wide(value: Any) -> Any:
    return scalars.cast(value, "float64")


def _rounded(value: Any, dtype: str, mode: str) -> Any:
    """A float64 as `dtype`. Two steps in one direction are as good as one."""
    if dtype != "float32" and mode != "rn":
        value = scalars.cast(value, "float32", round=mode)
    return scalars.cast(value, dtype, round=mode)


def _beside(total: Any, error: Any) -> Any:
    """The float64 next to `total` on the side of `error`."""
    bits = scalars.reinterpret(total, "int64")
    zero = constant(0.0, "float64")
    away = (error > zero) == (total > zero)
    step = scalars.if_then_else(away, constant(1, "int64"), constant(-1, "int64"))
    return scalars.reinterpret(bits + step, "float64")


def _sum(a: Any, b: Any, dtype: str, mode: str) -> Any:
    """The sum of two float64 that hold narrower values or their products, rounded to `dtype`."""
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    zero = constant(0.0, "float64")
    inexact = scalars.isfinite(total) & (error != zero)
    if mode == "rn":
        # Rounded to odd first: the last bit says that something lies below it.
        odd = scalars.reinterpret(total, "int64") & constant(1, "int64")
        beside = scalars.if_then_else(
            inexact & (odd == constant(0, "int64")), _beside(total, error), total
        )
        return scalars.cast(beside, dtype)
    narrow = _wide(_rounded(total, dtype, "rz"))
    beside = scalars.if_then_else(inexact & (narrow == total), _beside(total, error), total)
    result = _rounded(beside, dtype, mode)
    if mode != "rm":
        return result
    # Down, x - x is -0, and so is the sum of zeros unless both are +0.
    sign = constant(-(1 << 63), "int64")
    either = (scalars.reinterpret(a, "int64") | scalars.reinterpret(b, "int64")) & sign
    is_negative = (total == zero) & (either != constant(0, "int64"))
    return scalars.if_then_else(is_negative, constant(-0.0, dtype), result)


def ieee_add(x: Any, y: Any, rounding_mode: str = "rn") -> Any:
    """x + y rounded to nearest ("rn"), toward zero ("rz"), up ("ru") or down ("rd").

    Example:
        C[i, j] = T.ieee_add(A[i, j], B[i, j])
    """
    (a, b), dtype, mode = _operands("T.ieee_add", rounding_mode, x, y)
    return a + b if mode == "rn" else _sum(_wide(a), _wide(b), dtype, mode)


def ieee_sub(x: Any, y: Any, rounding_mode: str = "rn") -> Any:
    """x - y; the modes are those of `T.ieee_add`.

    Example:
        C[i, j] = T.ieee_sub(A[i, j], B[i, j])
    """
    (a, b), dtype, mode = _operands("T.ieee_sub", rounding_mode, x, y)
    return a - b if mode == "rn" else _sum(_wide(a), -_wide(b), dtype, mode)


def ieee_mul(x: Any, y: Any, rounding_mode: str = "rn") -> Any:
    """x * y; the modes are those of `T.ieee_add`.

    Example:
        C[i, j] = T.ieee_mul(A[i, j], B[i, j])
    """
    (a, b), dtype, mode = _operands("T.ieee_mul", rounding_mode, x, y)
    return a * b if mode == "rn" else _rounded(_wide(a) * _wide(b), dtype, mode)


def ieee_fmaf(x: Any, y: Any, z: Any, rounding_mode: str = "rn") -> Any:
    """x * y + z rounded once; the modes are those of `T.ieee_add`.

    Example:
        C[i, j] = T.ieee_fmaf(A[i, j], B[i, j], 1.0)
    """
    (a, b, c), dtype, mode = _operands("T.ieee_fmaf", rounding_mode, x, y, z)
    if dtype == "float64":
        raise LanguageError("'T.ieee_fmaf' of float64 is not supported yet")
    return _sum(_wide(a) * _wide(b), _wide(c), dtype, mode)


def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z rounded once, to nearest.

    Example:
        C[i, j] = T.fma(A[i, j], B[i, j], 1.0)
    """
    if not any(is_kernel_value(value) for value in (x, y, z)):
        return x * y + z
    if any("float" in dtype_of(value) for value in (x, y, z)):
        return ieee_fmaf(x, y, z)
    return x * y + z


def ieee_fdiv(x: Any, y: Any, rounding_mode: str = "rn") -> Any:
    """x / y; the modes are those of `T.ieee_add`.

    Example:
        C[i, j] = T.ieee_fdiv(A[i, j], B[i, j])
    """
    (a, b), dtype, mode = _operands("T.ieee_fdiv", rounding_mode, x, y)
    return a / b if mode == "rn" else _rounded(_wide(a) / _wide(b), dtype, mode)


def ieee_frcp(x: Any, rounding_mode: str = "rn") -> Any:
    """1 / x; the modes are those of `T.ieee_add`.

    Example:
        B[i, j] = T.ieee_frcp(A[i, j])
    """
    return ieee_fdiv(1.0, x, rounding_mode)


def ieee_fsqrt(x: Any, rounding_mode: str = "rn") -> Any:
    """The square root; the modes are those of `T.ieee_add`.

    Example:
        B[i, j] = T.ieee_fsqrt(A[i, j])
    """
    (a,), dtype, mode = _operands("T.ieee_fsqrt", rounding_mode, x)
    return scalars.sqrt(a) if mode == "rn" else _rounded(scalars.sqrt(_wide(a)), dtype, mode)


def ieee_frsqrt(x: Any) -> Any:
    """1 / sqrt(x), rounded to nearest.

    Example:
        B[i, j] = T.ieee_frsqrt(A[i, j])
    """
    (a,), dtype, _ = _operands("T.ieee_frsqrt", "rn", x)
    return scalars.cast(constant(1.0, "float64") / scalars.sqrt(_wide(a)), dtype)
