"""Rows of the functions made of others (`T.asin`, `T.ldexp`, …) and of arithmetic with a rounding
mode (`T.ieee_add`), with references in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import mpmath
import numpy as np

from conformance import references as ref
from conformance.engines import FLOATS, INTEGERS, bits_of_dtype, numpy_of

#: How the language names a mode, and how a cast does.
_MODES = {"rn": "rn", "rz": "rz", "ru": "rp", "rd": "rm"}
_NARROW = ("float16", "bfloat16", "float32")


def _round_exact(value: Fraction, dtype: str, mode: str) -> float:
    """A fraction that is not 0 as a number of `dtype`."""
    form = ref.FORMATS[dtype]
    sign, size = (1 if value > 0 else -1), abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, form.least) - form.digits + 1)
    whole, rest = divmod(size, unit)
    if mode == "rn":
        up = 2 * rest > unit or (2 * rest == unit and whole % 2 == 1)
    else:
        up = rest > 0 and mode == ("rp" if value > 0 else "rm")
    result = (whole + up) * unit
    if result > Fraction(form.greatest):
        outward = mode == "rn" or mode == ("rp" if value > 0 else "rm")
        return sign * (math.inf if outward else form.greatest)
    return sign * float(result)


def directed(
    exact: Callable[..., Fraction],
    nearest: Callable[..., np.ndarray],
    mode: str,
    is_sum: bool = False,
) -> Callable[..., np.ndarray]:
    """Of an operation on fractions. `nearest` is numpy's, for infinities, NaN and zeros; a sum that
    is 0 by cancellation, or of zeros of both signs, is -0 where it rounds down."""

    def reference(dtype: str, *arrays: np.ndarray) -> np.ndarray:
        values = [ref.numbers(array, dtype) for array in arrays]
        with np.errstate(all="ignore"):
            result = nearest(*values)
            # a b + c is -((-a) b + (-c)), rounded the other way.
            signs = {1: (1,), 2: (-1, -1), 3: (-1, 1, -1)}[len(values)]
            down = -nearest(*(s * v for s, v in zip(signs, values, strict=True)))
        for at in np.flatnonzero(np.all([np.isfinite(v) for v in values], axis=0)).tolist():
            row = [Fraction(float(v[at])) for v in values]
            try:
                value = exact(*row)
            except (ZeroDivisionError, ValueError):
                continue
            if value:
                result[at] = _round_exact(value, dtype, _MODES[mode])
            elif mode == "rd" and is_sum:
                result[at] = down[at]
        return ref.stored(result, dtype)

    return reference


def _root(value: Fraction) -> Fraction:
    if value < 0:
        raise ValueError
    with mpmath.workprec(400):
        root = mpmath.sqrt(mpmath.mpf(value.numerator) / value.denominator)
        scaled = int(mpmath.floor(root * mpmath.mpf(2) ** 300))
    found = Fraction(scaled, 2**300)
    near = Fraction(round(found * 2**200), 2**200)
    return near if near * near == value else found


#: name: (exact, numpy's, operands)
_ROUNDED: dict[str, tuple[Callable[..., Fraction], Callable[..., np.ndarray], int]] = {
    "ieee_add": (lambda a, b: a + b, np.add, 2),
    "ieee_sub": (lambda a, b: a - b, np.subtract, 2),
    "ieee_mul": (lambda a, b: a * b, np.multiply, 2),
    "ieee_fdiv": (lambda a, b: a / b, np.divide, 2),
    "ieee_fmaf": (lambda a, b, c: a * b + c, lambda a, b, c: a * b + c, 3),
    "ieee_frcp": (lambda a: 1 / a, lambda a: 1 / a, 1),
    "ieee_fsqrt": (_root, np.sqrt, 1),
}


def _next(dtype: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        following = np.nextafter(a, b).astype(numpy_of(dtype))
    return np.where(a == b, b, following)  # C's; numpy gives `a` for float16


def _scaled(dtype: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    exponents = ref.convert(b, dtype, "int32").tolist()
    values = ref.numbers(a, dtype).tolist()
    result = np.array(values)
    for at, (value, exponent) in enumerate(zip(values, exponents, strict=True)):
        if value and math.isfinite(value):
            power = Fraction(2) ** max(-4200, min(4200, exponent))
            result[at] = _round_exact(Fraction(value) * power, dtype, "rn")
    return ref.stored(result, dtype)


def _count_zeros(dtype: str, a: np.ndarray) -> np.ndarray:
    bits = bits_of_dtype(dtype)
    mask = (1 << bits) - 1
    return np.array([bits - (v & mask).bit_length() for v in a.tolist()], np.int32)


def _first_set(dtype: str, a: np.ndarray) -> np.ndarray:
    return np.array([(v & -v).bit_length() for v in a.tolist()], np.int32)


def rows(operation: type, functions: Callable, rounded: Callable, integer: Callable) -> Iterable:
    """The rows, made with the table's own classes and references."""
    few = ("float32", "float64")
    for name in ("asin", "acos", "asinh", "acosh", "atanh"):
        yield operation(f"T.{name}", f"T.{name}({{0}})", FLOATS, functions(name), ulps=6, quick=few)
    yield operation("T.hypot", "T.hypot({0}, {1})", FLOATS, functions("hypot"), ulps=6, quick=few)
    yield operation("T.copysign", "T.copysign({0}, {1})", FLOATS, rounded(np.copysign))
    yield operation("T.fast_rcp", "T.fast_rcp({0})", FLOATS, rounded(lambda x: 1 / x))
    yield operation("T.nextafter", "T.nextafter({0}, {1})", FLOATS, _next)
    ldexp = 'T.ldexp({0}, T.cast({1}, "int32"))'
    yield operation("T.ldexp", ldexp, FLOATS, _scaled)
    yield operation("T.clz", "T.clz({0})", INTEGERS, _count_zeros, lambda _: "int32")
    yield operation("T.__ffs", "T.__ffs({0})", INTEGERS, _first_set, lambda _: "int32")
    product = integer(lambda a, b, c: a * b + c)
    yield operation("T.fma", "T.fma({0}, {1}, {2})", INTEGERS, product)
    fused = directed(*_ROUNDED["ieee_fmaf"][:2], "rn")
    yield operation("T.fma", "T.fma({0}, {1}, {2})", _NARROW, fused)
    root = functions("rsqrt")
    yield operation("T.ieee_frsqrt", "T.ieee_frsqrt({0})", FLOATS, root, ulps=2)
    for name, (exact, nearest, count) in _ROUNDED.items():
        operands = ", ".join(f"{{{k}}}" for k in range(count))
        for mode in _MODES:
            text = f'T.{name}({operands}, "{mode}")'
            wide = FLOATS if mode == "rn" and name != "ieee_fmaf" else _NARROW
            is_sum = name in ("ieee_add", "ieee_sub", "ieee_fmaf")
            reference = directed(exact, nearest, mode, is_sum)
            yield operation(f"T.{name} {mode}", text, wide, reference, quick=("float32",))
