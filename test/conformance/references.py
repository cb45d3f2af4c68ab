"""What a scalar operation means, written anew: Python integers, float64, mpmath.

Nothing here is shared with the compiler. A reference takes arrays of the operands' dtypes. One that
`rounds` gives the result itself; one of a function gives the exact value, as a float64 or as a
longdouble, and `ulp_errors` says how far a result is from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import mpmath
import numpy as np

from conformance.engines import bits_of_dtype, from_bits, is_float, numpy_of

# ---- Formats ----


@dataclass(frozen=True)
class Format:
    """A binary float: digits of the significand, least exponent, greatest number."""

    digits: int
    least: int
    greatest: float
    saturates: bool = False


FORMATS = {
    "float8_e4m3fn": Format(4, -6, 448.0, saturates=True),
    "float8_e5m2": Format(3, -14, 57344.0, saturates=True),
    "float16": Format(11, -14, 65504.0),
    "bfloat16": Format(8, -126, (2 - 2.0**-7) * 2.0**127),
    "tfloat32": Format(11, -126, (2 - 2.0**-10) * 2.0**127),
    "float32": Format(24, -126, (2 - 2.0**-23) * 2.0**127),
    "float64": Format(53, -1022, 1.7976931348623157e308),
}


def _half_away(scaled: np.ndarray) -> np.ndarray:
    """To nearest, halves away from zero; exact below 2^52."""
    whole = np.trunc(scaled)
    return whole + np.where(np.abs(scaled - whole) >= 0.5, np.copysign(1, scaled), 0)


_ROUNDINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil, "rna": _half_away
}  # fmt: skip


def quantum(values: np.ndarray, dtype: str) -> np.ndarray:
    """The unit in the last place of `dtype` at finite values."""
    form = FORMATS[dtype]
    _, exponent = np.frexp(values)  # |x| in [1/2, 1) * 2^exponent
    return np.ldexp(values.dtype.type(1), np.maximum(exponent - 1, form.least) - (form.digits - 1))


def round_reals(values: np.ndarray, dtype: str, mode: str = "rn", sat: bool = False) -> np.ndarray:
    """float64 values as numbers of `dtype`, rounded once, still as float64."""
    form = FORMATS[dtype]
    if dtype == "tfloat32" and mode == "rn":
        mode = "rna"
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(values), values, 0.0)
        if dtype != "float64":
            unit = quantum(finite, dtype)
            finite = np.copysign(_ROUNDINGS[mode](finite / unit) * unit, values)
        too_large = np.abs(finite) > form.greatest
        # A rounding towards zero stays at the greatest number.
        inward = {"rz": True, "rm": values > 0, "rp": values < 0}.get(mode, False)
        stays = np.broadcast_to(inward, values.shape) | sat | form.saturates
        limit = np.where(stays, form.greatest, np.inf)
        result = np.where(too_large, np.copysign(limit, values), finite)
        ends = np.where(sat or form.saturates, form.greatest, np.inf)
        result = np.where(np.isinf(values), np.copysign(ends, values), result)
    return np.where(np.isnan(values), np.nan, result)


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """float64 numbers of `dtype` in its array type; exact."""
    with np.errstate(all="ignore"):
        return values.astype(np.float32).astype(numpy_of(dtype)) if dtype != "float64" else values


def numbers(array: np.ndarray, dtype: str) -> np.ndarray:
    """Elements as float64 numbers; a tfloat32 rounds what memory holds."""
    with np.errstate(all="ignore"):
        wide = array.astype(np.float32).astype(np.float64) if dtype != "float64" else array
    return round_reals(wide, dtype) if dtype == "tfloat32" else wide


# ---- Integers ----


def wrap(value: int, dtype: str) -> int:
    """An integer modulo the width of `dtype`."""
    bits = bits_of_dtype(dtype)
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if not dtype.startswith("u") and low >> (bits - 1) else low


def integers(function: Callable[..., int], dtype: str, *arrays: np.ndarray) -> np.ndarray:
    """A function of Python integers, element by element, wrapped to `dtype`."""
    rows = zip(*(array.tolist() for array in arrays), strict=True)
    return np.array([wrap(int(function(*row)), dtype) for row in rows], dtype=dtype)


def trunc_divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b) if b else 0
    return -quotient if (a < 0) != (b < 0) else quotient


def shift_left(a: int, n: int, bits: int) -> int:
    return a << n if 0 <= n < bits else 0


def shift_right(a: int, n: int, bits: int) -> int:
    return a >> (n if 0 <= n < bits else bits)


def power(a: int, n: int, bits: int) -> int:
    """a**n modulo 2^bits; a negative exponent gives the truncated reciprocal."""
    if n >= 0:
        return pow(a, n, 1 << bits)
    return {1: 1, -1: -1 if n % 2 else 1}.get(a, 0)


# ---- Conversions ----


def _integer_to_real(value: int, digits: int, mode: str) -> float:
    """An integer with at most `digits` significant digits, as a float64."""
    drop = max(value.bit_length() - digits, 0)
    low, unit = value & ((1 << drop) - 1), 1 << drop
    floor, half = value - low, unit // 2
    if mode == "rz":
        mode = "rm" if value >= 0 else "rp"
    up = {
        "rm": False,
        "rp": low > 0,
        "rn": 2 * low > unit or (drop and low == half and (value >> drop) & 1),
        "rna": drop and (low > half or (low == half and value >= 0)),
    }[mode]
    return float(floor + unit if up else floor)


def _real_to_integer(value: float, dtype: str) -> int:
    if math.isnan(value):
        return 0
    info = np.iinfo(dtype)
    if math.isinf(value):
        return int(info.max if value > 0 else info.min)
    return max(int(info.min), min(int(info.max), int(value)))


def convert(
    array: np.ndarray, source: str, target: str, mode: str = "rn", sat: bool = False
) -> np.ndarray:
    """`T.cast`."""
    if is_float(source):
        values = numbers(array, source)
        if is_float(target):
            if source == target and not sat:
                return stored(values, target)
            return stored(round_reals(values, target, mode, sat), target)
        if target == "bool":
            return values != 0
        return np.array([_real_to_integer(v, target) for v in values.tolist()], target)
    if target == "bool":
        return array != 0
    if not is_float(target):
        return integers(lambda v: v, target, array)
    nearest = "rna" if target == "tfloat32" and mode == "rn" else mode
    # Exact in float64, or already rounded: what follows only finds subnormals and overflow, and no
    # integer is subnormal.
    digits = FORMATS[target].digits
    reals = np.array([_integer_to_real(int(v), digits, nearest) for v in array.tolist()], float)
    return stored(round_reals(reals, target, "rz" if mode == "rz" else mode, sat), target)


def reinterpret(array: np.ndarray, source: str, target: str) -> np.ndarray:
    """`T.reinterpret`: what a register of the source holds, as another dtype."""
    if source == "tfloat32":
        array = stored(numbers(array, source), source)
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    result = from_bits(bits, target)
    return stored(numbers(result, target), target) if target == "tfloat32" else result


# ---- Functions of floats ----


def _domain(function: Callable[..., mpmath.mpf]) -> Callable[..., mpmath.mpf]:
    """NaN where the value is complex."""

    def real(*x: mpmath.mpf) -> mpmath.mpf:
        try:
            value = function(*x)
        except ZeroDivisionError:
            return mpmath.mpf("nan")
        return mpmath.mpf("nan") if isinstance(value, mpmath.mpc) else value

    return real


_erf = np.frompyfunc(math.erf, 1, 1)

#: name: (mpmath's function, numpy's, which has the corners of C's library)
FUNCTIONS: dict[str, tuple[Callable[..., mpmath.mpf], Callable[..., np.ndarray]]] = {
    "exp": (mpmath.exp, np.exp),
    "exp2": (lambda x: mpmath.mpf(2) ** x, np.exp2),
    "exp10": (lambda x: mpmath.mpf(10) ** x, lambda x: np.power(10.0, x)),
    "log": (mpmath.log, np.log),
    "log2": (lambda x: mpmath.log(x, 2), np.log2),
    "log10": (mpmath.log10, np.log10),
    "log1p": (mpmath.log1p, np.log1p),
    "sqrt": (mpmath.sqrt, np.sqrt),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), lambda x: 1 / np.sqrt(x)),
    "sin": (mpmath.sin, np.sin),
    "cos": (mpmath.cos, np.cos),
    "tan": (mpmath.tan, np.tan),
    "atan": (mpmath.atan, np.arctan),
    "sinh": (mpmath.sinh, np.sinh),
    "cosh": (mpmath.cosh, np.cosh),
    "tanh": (mpmath.tanh, np.tanh),
    "erf": (mpmath.erf, lambda x: _erf(x).astype(x.dtype)),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), lambda x: 1 / (1 + np.exp(-x))),
    "asin": (mpmath.asin, np.arcsin),
    "acos": (mpmath.acos, np.arccos),
    "asinh": (mpmath.asinh, np.arcsinh),
    "acosh": (mpmath.acosh, np.arccosh),
    "atanh": (mpmath.atanh, np.arctanh),
    "hypot": (mpmath.hypot, np.hypot),
    "pow": (mpmath.power, np.power),
    "atan2": (mpmath.atan2, np.arctan2),
}


def _to_long(value: mpmath.mpf) -> np.longdouble:
    high = float(value)
    if not math.isfinite(high):
        return np.longdouble(high)
    return np.longdouble(high) + np.longdouble(float(value - high))


@cache
def _exact(name: str, operands: tuple[float, ...]) -> np.longdouble:
    with mpmath.workprec(120):
        return _to_long(_domain(FUNCTIONS[name][0])(*(mpmath.mpf(x) for x in operands)))


def function_value(name: str, *values: np.ndarray, precise: bool = True) -> np.ndarray:
    """The exact values of a function of float64 arguments: by mpmath, or by the C library, which is
    close enough for results of 16 bits. Corners (infinities, NaN, zeros) are the C library's."""
    with np.errstate(all="ignore"):
        corners = FUNCTIONS[name][1](*values)
    if not precise:
        return corners
    result = corners.astype(np.longdouble)
    inner = np.all([np.isfinite(v) & (v != 0) for v in values], axis=0) & ~np.isnan(corners)
    for at in np.flatnonzero(inner).tolist():
        exact = _exact(name, tuple(float(v[at]) for v in values))
        result[at] = exact if exact != 0 else np.copysign(np.longdouble(0), result[at])
    return result


def ulp_errors(got: np.ndarray, exact: np.ndarray, dtype: str) -> np.ndarray:
    """How many units in the last place each result is off; infinite for a wrong NaN, infinity or
    sign of zero."""
    form = FORMATS[dtype]
    with np.errstate(all="ignore"):
        wide = numbers(got, dtype).astype(np.longdouble)
        exact = exact.astype(np.longdouble)
        if form.saturates:
            exact = np.clip(exact, -form.greatest, form.greatest)  # a NaN stays one
        size = np.where(np.isfinite(exact), np.minimum(np.abs(exact), form.greatest), 0)
        unit = quantum(size, dtype)
        # An infinity stands for the next power of two, where the exact value is a number.
        beyond = np.copysign(np.longdouble(2.0) ** (2 - form.least), wide)
        error = np.abs(np.where(np.isinf(wide), beyond, wide) - exact) / unit
        too_large = (
            np.isinf(wide) & (np.abs(exact) > form.greatest) & (np.sign(wide) == np.sign(exact))
        )
        error = np.where(too_large, 0, error)
        same = (wide == exact) & (np.signbit(wide) == np.signbit(exact))
        same |= np.isnan(wide) & np.isnan(exact)
        error = np.where(same, 0, error)
        signs = (wide == 0) & (np.signbit(wide) != np.signbit(exact)) & ~np.isnan(exact)
    return np.where(np.isnan(error) | signs, np.inf, error).astype(np.float64)
