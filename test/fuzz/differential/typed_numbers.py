"""Typed numbers: what each scalar operation gives, in exact fractions and Python integers.

The rules are those of docs/semantics.md, written once more: nothing is shared with the compiler,
nor with the references of test/conformance. A `Number` has a dtype; a Python int or float is a
number of the program; an `Index` is an exact integer.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from differential.promotion import meet

#: Digits of the significand, least exponent, greatest number, whether overflow stays there.
FORMATS = {
    "float8_e4m3fn": (4, -6, 448.0, True),
    "float8_e5m2": (3, -14, 57344.0, True),
    "float16": (11, -14, 65504.0, False),
    "bfloat16": (8, -126, (2 - 2.0**-7) * 2.0**127, False),
    "tfloat32": (11, -126, (2 - 2.0**-10) * 2.0**127, False),
    "float32": (24, -126, (2 - 2.0**-23) * 2.0**127, False),
    "float64": (53, -1022, 1.7976931348623157e308, False),
}
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@dataclass(frozen=True)
class Number:
    """A value with a dtype: an int (0 or 1 of a bool), or a float that the dtype holds.

    A left shift of 8 or 16 bits keeps in `wide` what it is in 32 bits: a conversion to a wider
    integer where the shift stands takes that.
    """

    dtype: str
    value: int | float
    wide: int | None = field(default=None, compare=False)

    def named(self) -> Number:
        """The same with a name: a number of its dtype, however it was computed."""
        return Number(self.dtype, self.value)


@dataclass(frozen=True)
class Index:
    """A mathematical integer: a loop variable, or an expression of such."""

    value: int


Operand = Number | Index | int | float | bool


def is_float(dtype: str) -> bool:
    return dtype in FORMATS


def bits_of(dtype: str) -> int:
    return int("".join(filter(str.isdigit, dtype)))


# ---- Rounding ----


def round_to(value: Fraction, dtype: str, mode: str = "rn", sat: bool = False,
             zero: float = 0.0) -> float:  # fmt: skip
    """An exact number in a float dtype; `zero` is what an exact 0 gives."""
    if value == 0:
        return zero
    digits, least, greatest, saturates = FORMATS[dtype]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = max(exponent, least) - (digits - 1)
    scaled = size / Fraction(2) ** unit
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    is_negative = value < 0
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        "rna": rest >= Fraction(1, 2),
        "rz": False,
        "rm": is_negative and rest > 0,
        "rp": not is_negative and rest > 0,
    }[mode]
    whole += up
    inward = mode == "rz" or (mode == "rm" and not is_negative) or (mode == "rp" and is_negative)
    if whole * Fraction(2) ** unit > Fraction(greatest):
        result = greatest if saturates or sat or inward else math.inf
    else:
        result = math.ldexp(whole, unit)
    return -result if is_negative else result


def wrap(value: int, dtype: str) -> int:
    if dtype == "bool":
        return int(value != 0)
    bits = bits_of(dtype)
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype[0] == "i" and value >> (bits - 1) else value


def convert(number: Number, dtype: str, mode: str = "rn", sat: bool = False) -> Number:
    """`T.cast`."""
    value = number.value
    if not is_float(dtype):
        if dtype == "bool":
            return Number("bool", int(value != 0))  # a NaN is not 0
        if not is_float(number.dtype):
            if number.wide is not None and bits_of(dtype) > bits_of(number.dtype):
                value = number.wide
            elif dtype == number.dtype:
                return number
            return Number(dtype, wrap(int(value), dtype))
        if math.isnan(value):
            return Number(dtype, 0)
        bits = bits_of(dtype)
        low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)),
                                                            2 ** (bits - 1) - 1)  # fmt: skip
        if math.isinf(value):
            return Number(dtype, high if value > 0 else low)
        return Number(dtype, min(max(math.trunc(value), low), high))
    if number.dtype == dtype and not (sat and is_float(dtype)):
        return number
    if is_float(number.dtype) and not math.isfinite(value):
        if math.isinf(value) and (sat or FORMATS[dtype][3]):
            return Number(dtype, math.copysign(FORMATS[dtype][2], value))
        return Number(dtype, value)
    if dtype == "tfloat32" and mode == "rn":
        mode = "rna"
    zero = math.copysign(0.0, value)
    return Number(dtype, round_to(Fraction(value), dtype, mode, sat, zero))


# ---- Operands ----


def literal_dtype(number: int | float) -> str:
    """The dtype that a Python number has by itself."""
    if isinstance(number, bool):
        return "bool"
    if isinstance(number, int):
        return "int32" if -(2**31) <= number < 2**31 else "int64"
    return "float32"


def dtype_of(operand: Operand) -> str:
    if isinstance(operand, Number):
        return operand.dtype
    return "int32" if isinstance(operand, Index) else literal_dtype(operand)


def as_type(operand: Operand, dtype: str) -> Number:
    """An operand converted; a Python float keeps its digits until here."""
    if isinstance(operand, Number):
        return convert(operand, dtype)
    if isinstance(operand, Index):
        return convert(Number("int32", wrap(operand.value, "int32")), dtype)
    if isinstance(operand, float):
        return convert(Number("float64", operand), dtype)
    return convert(Number("int64", int(operand)), dtype)


def met(a: Operand, b: Operand) -> str:
    first, second = (
        "float32" if dtype_of(x) == "tfloat32" else dtype_of(x) for x in (a, b)
    )  # fmt: skip
    if first == second:
        return first
    if "float8" in first and "float8" in second:
        return "float32"
    return meet(first, second)


def is_exact(operand: Operand) -> bool:
    """Whether it is an index value or a Python int."""
    return isinstance(operand, Index) or type(operand) is int


def truth(operand: Operand) -> bool:
    value = operand.value if isinstance(operand, Number | Index) else operand
    return bool(value != 0)


def _bool(value: bool) -> Number:
    return Number("bool", int(value))


# ---- Arithmetic ----


def _float_exactly(name: str, x: float, y: float) -> tuple[Fraction | None, float]:
    """The exact result if it is one, and what IEEE arithmetic gives of zeros and infinities."""
    try:
        special = {"+": operator.add, "-": operator.sub, "*": operator.mul}[name](x, y)
    except KeyError:
        if y == 0:
            nan = x == 0 or math.isnan(x)
            special = math.nan if nan else math.copysign(math.inf, x) * math.copysign(1.0, y)
        else:
            special = x / y
    if not (math.isfinite(x) and math.isfinite(y)) or (name == "/" and y == 0):
        return None, special
    exact = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[name]
    return exact(Fraction(x), Fraction(y)), special


def _float_operation(name: str, x: float, y: float, dtype: str) -> float:
    """One of + - * /, rounded once to a dtype."""
    exact, special = _float_exactly(name, x, y)
    if exact is None:
        return special
    return round_to(exact, dtype, zero=math.copysign(0.0, special))


def _whole(x: float, function: Callable[[float], int]) -> float:
    return math.copysign(float(function(x)), x) if math.isfinite(x) else x


def _float_quotient(x: float, y: float, dtype: str, function: Callable[[float], int]) -> float:
    return _whole(_float_operation("/", x, y, dtype), function)


def _remainder(x: float, y: float) -> float:
    """C's fmod: exact."""
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return x if math.isinf(y) else math.fmod(x, y)


def _float_binary(name: str, x: float, y: float, dtype: str) -> float:
    """In a dtype that computes in itself."""
    match name:
        case "+" | "-" | "*" | "/":
            return _float_operation(name, x, y, dtype)
        case "//":
            return _float_quotient(x, y, dtype, math.floor)
        case "truncdiv":
            return _float_quotient(x, y, dtype, math.trunc)
        case "truncmod" | "fmod":
            return _remainder(x, y)
        case "%":
            rest = _remainder(x, y)
            if rest != 0 and not math.isnan(rest) and (rest < 0) != (y < 0):
                return _float_operation("+", rest, y, dtype)
            return rest
    raise AssertionError(name)


def _trunc_divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b) if b else 0
    return -quotient if (a < 0) != (b < 0) else quotient


def _integer_binary(name: str, a: int, b: int, bits: int) -> int:
    match name:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return a // b if b else 0
        case "%":
            return a % b if b else a
        case "/" | "truncdiv":
            return _trunc_divide(a, b)
        case "truncmod":
            return a - b * _trunc_divide(a, b)
        case "ceildiv":
            return -(-a // b) if b else 0
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<":
            return a << b if 0 <= b < bits else 0
        case ">>":
            return a >> (b if 0 <= b < bits else bits)
        case "**":
            return pow(a, b, 1 << bits) if b >= 0 else {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    raise AssertionError(name)


def _choose(x: Any, y: Any, largest: bool) -> Any:
    """A NaN loses, and -0 is less than +0."""
    if x != x or y != y:
        return y if x != x else x
    if isinstance(x, float) and x == y == 0:
        signs = [math.copysign(1.0, v) for v in (x, y)]
        return math.copysign(0.0, max(signs) if largest else min(signs))
    return max(x, y) if largest else min(x, y)


BIT_OPERATIONS = ("&", "|", "^", "<<", ">>")
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _bit_type(name: str, a: Operand, b: Operand) -> str:
    """A Python int beside a bit operation takes the other side's dtype."""
    for literal, other in ((a, b), (b, a)):
        if type(literal) is int and isinstance(other, Number):
            return "int32" if other.dtype == "bool" else other.dtype
    common = met(a, b)
    return "int32" if common == "bool" and name in ("<<", ">>") else common


def binary(name: str, a: Operand, b: Operand) -> Operand:
    """An operation on two operands."""
    if is_exact(a) and is_exact(b):
        x, y = (v.value if isinstance(v, Index) else v for v in (a, b))
        return Index(_integer_binary(name, x, y, 64))
    if name in BIT_OPERATIONS:
        dtype = _bit_type(name, a, b)
    else:
        dtype = met(a, b)
        if dtype == "bool":
            dtype = "int32"
        if name == "/" and not is_float(dtype):
            kinds = (dtype_of(a), dtype_of(b))
            if not any(kind == "bool" or kind[0] == "u" for kind in kinds):
                dtype = "float32"
    x, y = as_type(a, dtype), as_type(b, dtype)
    if not is_float(dtype):
        bits = 1 if dtype == "bool" else bits_of(dtype)
        value = wrap(_integer_binary(name, x.value, y.value, bits), dtype)
        if name != "<<" or dtype == "bool" or bits >= 32:
            return Number(dtype, value)
        wide = binary(name, as_type(x, "int32"), as_type(y, "int32"))
        return Number(dtype, value, wide.value)
    computed = "float32" if "float8" in dtype else dtype
    result = Number(computed, _float_binary(name, x.value, y.value, computed))
    return convert(result, dtype)


def _kept(number: Number) -> Number:
    """The result of an operation that rounds nothing: those of 8-bit floats saturate."""
    return convert(number, number.dtype, sat="float8" in number.dtype)


def choose(name: str, a: Operand, b: Operand) -> Operand:
    """`T.max` and `T.min`."""
    if is_exact(a) and is_exact(b):
        x, y = (v.value if isinstance(v, Index) else v for v in (a, b))
        return Index(_choose(x, y, name == "max"))
    dtype = met(a, b)
    x, y = as_type(a, dtype), as_type(b, dtype)
    return _kept(Number(dtype, _choose(x.value, y.value, name == "max")))


def compare(name: str, a: Operand, b: Operand) -> Number:
    if is_exact(a) and is_exact(b):
        x, y = (v.value if isinstance(v, Index) else v for v in (a, b))
        return _bool(COMPARISONS[name](x, y))
    dtype = met(a, b)
    return _bool(COMPARISONS[name](as_type(a, dtype).value, as_type(b, dtype).value))


def select(condition: Operand, a: Operand, b: Operand) -> Operand:
    if is_exact(a) and is_exact(b):
        return a if truth(condition) else b
    return as_type(a if truth(condition) else b, met(a, b))


def unary(name: str, a: Operand) -> Operand:
    if is_exact(a):
        value = a.value if isinstance(a, Index) else a
        return Index({"-": -value, "abs": abs(value)}[name])
    number = a if isinstance(a, Number) else as_type(a, dtype_of(a))
    dtype, value = number.dtype, number.value
    match name:
        case "-" if dtype == "bool":
            return Number("int32", -value)
        case "-":
            return _kept(Number(dtype, -value if is_float(dtype) else wrap(-value, dtype)))
        case "~" if dtype == "bool":
            return _bool(not value)
        case "~":
            return Number(dtype, wrap(~value, dtype))
        case "abs":
            return _kept(Number(dtype, abs(value) if is_float(dtype) else wrap(abs(value), dtype)))
        case "popcount":
            return Number(dtype, (value & ((1 << bits_of(dtype)) - 1)).bit_count())
        case "isnan":
            return _bool(value != value)
        case "isinf":
            return _bool(is_float(dtype) and math.isinf(value))
        case "isfinite":
            return _bool(not is_float(dtype) or math.isfinite(value))
    if not is_float(dtype):
        return number
    functions = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round}
    return convert(Number("float64", _whole(value, functions[name])), dtype)


def fused(x: Number, y: Number, z: Number, mode: str = "rn") -> Number:
    """x * y + z, rounded once; all of one dtype."""
    dtype = x.dtype
    a, b, c = x.value, y.value, z.value
    if not all(map(math.isfinite, (a, b, c))):
        product = math.nan if 0 in (a, b) and math.inf in (abs(a), abs(b)) else a * b
        if math.isfinite(a) and math.isfinite(b):
            product = 0.0  # finite, whatever doubles make of it
        return Number(dtype, product + c)
    exact = Fraction(a) * Fraction(b)
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    if exact == 0 and c == 0:
        zero = math.copysign(0.0, sign) + c
    else:
        zero = -0.0 if mode == "rm" else 0.0
    if exact == 0 and c == 0 and math.copysign(1.0, c) != sign and mode == "rm":
        zero = -0.0
    return Number(dtype, round_to(exact + Fraction(c), dtype, mode, zero=zero))


#: IEEE's names of rounding in T.ieee_*, as `round_to` has them.
IEEE_MODES = {"rn": "rn", "rz": "rz", "ru": "rp", "rd": "rm"}


def ieee(name: str, x: Number, y: Number, mode: str) -> Number:
    """`T.ieee_add`, `sub`, `mul`, `fdiv`."""
    mode = IEEE_MODES[mode]
    sign = {"add": "+", "sub": "-", "mul": "*", "fdiv": "/"}[name]
    exact, special = _float_exactly(sign, x.value, y.value)
    if exact is None:
        return Number(x.dtype, special)
    zero = math.copysign(0.0, special)
    if exact == 0 and sign in "+-":  # x - x is -0 where it rounds down
        other = y.value if sign == "+" else -y.value
        same = math.copysign(1.0, x.value) == math.copysign(1.0, other)
        if not (x.value == 0 and same):
            zero = -0.0 if mode == "rm" else 0.0
    return Number(x.dtype, round_to(exact, x.dtype, mode, zero=zero))
