"""What the language's scalar functions give on Python numbers: the values of docs/semantics.md.

A Python int is an index value, a mathematical integer; a Python float counts as float32 and keeps
the precision of a double until it meets a dtype. Python's own functions differ in the corners:
`math` raises where IEEE arithmetic has an infinity or a NaN, `max` depends on the order of a NaN,
and rounding gives ints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Number = int | float
Function = Callable[..., Any]

_BITS = 64  # of an index value


# ---- Floats ----


def _divide(a: float, b: float) -> float:
    """a / b; a zero divides as IEEE says."""
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _overflowing(function: Function, limit: Callable[[float], float]) -> Function:
    """`function`, which goes to `limit(x)` where its value leaves the range of floats."""

    def folded(x: Number) -> float:
        try:
            return float(function(float(x)))
        except OverflowError:
            return limit(float(x))

    return folded


def _logarithm(function: Function, pole: float = 0.0) -> Function:
    """A logarithm that goes to minus infinity at `pole` and has no value below."""

    def folded(x: Number) -> float:
        if x == pole:
            return -math.inf
        return math.nan if x < pole else float(function(x))

    return folded


def _periodic(function: Function) -> Function:
    return lambda x: math.nan if math.isinf(x) else float(function(x))


def _root(x: Number) -> float:
    return math.nan if x < 0 else math.sqrt(x)


def _reciprocal_root(x: Number) -> float:
    return _divide(1.0, _root(x))


def _sigmoid(x: Number) -> float:
    small = math.exp(-abs(x))  # does not overflow
    return (small if x < 0 else 1.0) / (1.0 + small)


def _rounded(function: Function) -> Function:
    """Rounding to an integer value, which has the type and the sign of its operand."""

    def folded(x: Number) -> Number:
        if not isinstance(x, float) or not math.isfinite(x):
            return x
        return math.copysign(float(function(x)), x)

    return folded


def _question(function: Function, of_integers: bool) -> Function:
    return lambda x: bool(function(x)) if isinstance(x, float) else of_integers


# ---- Integers ----


def _count_ones(x: int) -> int:
    """As int32, or int64 where that does not hold the number."""
    if isinstance(x, bool):
        return x
    bits = 32 if -(1 << 31) <= x < 1 << 31 else _BITS
    return (x & ((1 << bits) - 1)).bit_count()


def _invert(x: int) -> int:
    return not x if isinstance(x, bool) else ~x


def _shift_left(a: int, b: int) -> int:
    return a << b if 0 <= b < _BITS else 0


def _shift_right(a: int, b: int) -> int:
    return a >> b if 0 <= b < _BITS else a >> _BITS


def _trunc_divide(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return FLOATS["trunc"](_divide(float(a), float(b)))
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _trunc_remainder(a: Number, b: Number) -> Number:
    if not isinstance(a, float) and not isinstance(b, float):
        return a - b * _trunc_divide(a, b)
    return math.nan if math.isinf(a) or b == 0 else math.fmod(a, b)


def _floor_divide(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return FLOATS["floor"](_divide(float(a), float(b)))
    return a // b


def _floor_remainder(a: Number, b: Number) -> Number:
    if not isinstance(a, float) and not isinstance(b, float):
        return a % b
    rest = _trunc_remainder(float(a), float(b))
    return rest + b if rest and (rest < 0) != (b < 0) else rest


def _ceil_divide(a: int, b: int) -> int:
    return -(-a // b)


# ---- Both ----


def _power(x: Number, y: Number) -> Number:
    if not isinstance(x, float) and not isinstance(y, float):
        return _integer_power(x, y)
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:  # a negative number to a fraction, or zero to a negative number
        if x != 0:
            return math.nan
        return math.copysign(math.inf, x) if y % 2 == 1 else math.inf


def _integer_power(x: int, y: int) -> int:
    if y < 0:  # the reciprocal, truncated
        return x if abs(x) == 1 and y % 2 else int(abs(x) == 1)
    if abs(x) > 1 and y > _BITS:
        raise OverflowError("it does not fit 64 bits")
    return x**y


def _extreme(sign: int) -> Function:
    """The larger (sign 1) or smaller (-1) number. A NaN loses, and -0 is less than +0."""

    def folded(a: Number, b: Number) -> Number:
        if isinstance(a, float) or isinstance(b, float):
            a, b = float(a), float(b)
            if math.isnan(a) or math.isnan(b):
                return b if math.isnan(a) else a
            if a == b:
                return a if math.copysign(1.0, a) == sign else b
        elif isinstance(a, bool) != isinstance(b, bool):
            a, b = int(a), int(b)
        return a if (a > b) == (sign > 0) else b

    return folded


def _magnitude(x: Number) -> Number:
    return x if isinstance(x, bool) else abs(x)


def _always_infinite(_: float) -> float:
    return math.inf


#: Functions of one number.
FLOATS: dict[str, Function] = {
    "exp": _overflowing(math.exp, _always_infinite),
    "exp2": _overflowing(lambda x: math.pow(2.0, x), _always_infinite),
    "exp10": _overflowing(lambda x: math.pow(10.0, x), _always_infinite),
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": _logarithm(math.log1p, pole=-1.0),
    "sqrt": _root,
    "rsqrt": _reciprocal_root,
    "sin": _periodic(math.sin),
    "cos": _periodic(math.cos),
    "tan": _periodic(math.tan),
    "atan": math.atan,
    "sinh": _overflowing(math.sinh, lambda x: math.copysign(math.inf, x)),
    "cosh": _overflowing(math.cosh, _always_infinite),
    "tanh": math.tanh,
    "sigmoid": _sigmoid,
    "erf": math.erf,
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "round": _rounded(round),
    "trunc": _rounded(math.trunc),
    "abs": _magnitude,
    "isnan": _question(math.isnan, of_integers=False),
    "isinf": _question(math.isinf, of_integers=False),
    "isfinite": _question(math.isfinite, of_integers=True),
    "popcount": _count_ones,
    "bitnot": _invert,
}

#: Functions of two numbers.
PAIRS: dict[str, Function] = {
    "ceildiv": _ceil_divide,
    "floordiv": _floor_divide,
    "floormod": _floor_remainder,
    "truncdiv": _trunc_divide,
    "truncmod": _trunc_remainder,
    "fmod": _trunc_remainder,
    "shl": _shift_left,
    "shr": _shift_right,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": _extreme(-1),
    "max": _extreme(1),
    "pow": _power,
    "atan2": math.atan2,
}
