"""The table of scalar operations: one row each, with its operands, result and reference.

`text` is the expression as a kernel writes it, `{0}` its first operand. All operands of a row have
one dtype; a cast between two is a row of `casts`. What the front end exports and has no row fails
`test_scalars.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from conformance import more_scalars
from conformance import references as ref
from conformance.engines import (
    DTYPES,
    FLOAT8,
    FLOATS,
    INTEGERS,
    SIGNED,
    STORED,
    UNSIGNED,
    bits_of_dtype,
    is_float,
    numpy_of,
)

#: (dtype of the operands, their arrays) to the result, or the exact value of a function.
Reference = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Operation:
    """A row. `ulps` is 0 where the result has one value, else what CPU and GPU code declare
    (Interp/Bounds.cpp)."""

    name: str
    text: str
    dtypes: tuple[str, ...]
    reference: Reference
    result: Callable[[str], str] = lambda dtype: dtype
    ulps: float = 0
    #: The dtypes of `make test`; all if none are named. Other names of an operation, and functions
    #: that convert their operand first, need not be tried on all.
    quick: tuple[str, ...] | None = None

    @property
    def arity(self) -> int:
        return 1 + max((k for k in range(3) if f"{{{k}}}" in self.text), default=0)


@dataclass(frozen=True)
class Case:
    """A row with its operands' dtype: a statement of a kernel."""

    operation: Operation
    dtype: str

    @property
    def result(self) -> str:
        return self.operation.result(self.dtype)

    def tolerance(self, engine: str) -> float:
        """In units in the last place; narrow floats are computed in float32 and rounded once."""
        if not self.operation.ulps:
            return 0
        if self.result in ("float16", "bfloat16", *FLOAT8):
            return 0.51
        # The interpreter computes float32 in float64; of float64 it has libm's values.
        is_single = (engine == "interp" and self.operation.ulps < 4) or self.operation.ulps == 6
        if is_single and self.result == "float32":
            return 0.5001
        return self.operation.ulps


# ---- References of whole families ----


def _integer(function: Callable[..., int]) -> Reference:
    return lambda dtype, *arrays: ref.integers(function, dtype, *arrays)


def _sized(function: Callable[..., int]) -> Reference:
    """Of a function that takes the width after the operands."""
    return lambda dtype, *arrays: ref.integers(
        lambda *row: function(*row, bits_of_dtype(dtype)), dtype, *arrays
    )


def _arithmetic_type(dtype: str) -> str:
    """What operations on a dtype give: tfloat32 is a storage type, bool counts as int32."""
    return {"tfloat32": "float32", "bool": "int32"}.get(dtype, dtype)


def _to_result(values: np.ndarray, dtype: str) -> np.ndarray:
    """float64 values rounded to a dtype; a float8 is computed in float32 first."""
    if dtype in FLOAT8:
        values = ref.round_reals(values, "float32")
    return ref.stored(ref.round_reals(values, dtype), dtype)


def _rounded(
    function: Callable[..., np.ndarray], result: Callable[[str], str] = _arithmetic_type
) -> Reference:
    """Of a function of float64 that is exact enough to round once."""

    def reference(dtype: str, *arrays: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = function(*(ref.numbers(array, dtype) for array in arrays))
        return _to_result(values, result(dtype))

    return reference


def _as_real(dtype: str, array: np.ndarray) -> np.ndarray:
    """Operands of a function as float64; integers count as float32."""
    if is_float(dtype):
        return ref.numbers(array, dtype)
    return ref.numbers(ref.convert(array, dtype, "float32"), "float32")


def _real(name: str) -> Reference:
    """The exact value of a function."""

    def reference(dtype: str, *arrays: np.ndarray) -> np.ndarray:
        values = [_as_real(dtype, array) for array in arrays]
        return ref.function_value(name, *values, precise=dtype not in ("float16", "bfloat16"))

    return reference


def _compared(function: Callable[..., np.ndarray]) -> Reference:
    def reference(dtype: str, *arrays: np.ndarray) -> np.ndarray:
        values = [ref.numbers(a, dtype) if is_float(dtype) else a for a in arrays]
        with np.errstate(all="ignore"):
            return function(*values)

    return reference


def _asked(function: Callable[[np.ndarray], np.ndarray]) -> Reference:
    """Of a question about a float; what integers answer is the same."""
    return lambda dtype, array: function(
        ref.numbers(array, dtype) if is_float(dtype) else array.astype(np.float64)
    )


def _lesser(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A NaN loses, -0 is below +0."""
    less = (a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b)) | np.isnan(b)
    return np.where(less & ~np.isnan(a), a, np.where(np.isnan(b), a, b))


def _greater(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return -_lesser(-a, -b)


def _float_floormod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """As Python's, except that an exact 0 keeps the dividend's sign. Exact but for the last sum."""
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def _quotient_then(function: Callable[[np.ndarray], np.ndarray]) -> Reference:
    """A quotient that is rounded, and then made whole."""

    def reference(dtype: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            quotient = ref.numbers(a, dtype) / ref.numbers(b, dtype)
            computed = "float32" if dtype in STORED else dtype
            return _to_result(
                function(ref.round_reals(quotient, computed)), _arithmetic_type(dtype)
            )

    return reference


def _float_quotient(dtype: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Signed integers are divided as float32."""
    with np.errstate(all="ignore"):
        return ref.stored(
            ref.round_reals(_as_real(dtype, a) / _as_real(dtype, b), "float32"), "float32"
        )


def _chosen(dtype: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """`a if a < b else c`."""
    less = _compared(operator.lt)(dtype, a, b)
    if dtype != "tfloat32":
        return np.where(less, a, c)
    return ref.stored(np.where(less, ref.numbers(a, dtype), ref.numbers(c, dtype)), dtype)


def _clamped(dtype: str, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    if not is_float(dtype):
        return np.minimum(np.maximum(x, low), high)
    return _extreme(lambda v, a, b: _lesser(_greater(v, a), b))(dtype, x, low, high)


def _constant(number: Callable[[str], float]) -> Reference:
    """The same whatever the operand."""

    def reference(dtype: str, array: np.ndarray) -> np.ndarray:
        return np.full(len(array), number(dtype)).astype(numpy_of(dtype))

    return reference


def _greatest(dtype: str) -> float:
    if dtype == "bool":
        return True
    return ref.FORMATS[dtype].greatest if is_float(dtype) else int(np.iinfo(dtype).max)


def _least(dtype: str) -> float:
    if dtype == "bool":
        return False
    return -ref.FORMATS[dtype].greatest if is_float(dtype) else int(np.iinfo(dtype).min)


def _extreme(function: Callable[..., np.ndarray]) -> Reference:
    """Of a choice among numbers, which keeps their dtype."""
    return _rounded(function, result=lambda dtype: dtype)


def _to_bool(dtype: str) -> str:
    return "bool"


def _function_type(dtype: str) -> str:
    return dtype if dtype in FLOATS else "float32"


# ---- The rows ----

_FEW = ("bool", "int32", "uint64")


def _integer_rows() -> Iterable[Operation]:
    def rows(names: str, reference: Reference) -> Iterable[Operation]:
        for rank, text in enumerate(names.split("; ")):
            name = text.split("(")[0] if text.startswith("T.") else text
            yield Operation(name, text, INTEGERS, reference, quick=_FEW if rank else None)

    yield from rows("{0} + {1}", _integer(operator.add))
    yield from rows("{0} - {1}", _integer(operator.sub))
    yield from rows("{0} * {1}", _integer(operator.mul))
    yield from rows("{0} // {1}; T.floordiv({0}, {1})", _integer(lambda a, b: a // b if b else 0))
    yield from rows("{0} % {1}; T.floormod({0}, {1})", _integer(lambda a, b: a % b if b else a))
    yield from rows("T.truncdiv({0}, {1})", _integer(ref.trunc_divide))
    yield Operation("{0} / {1}", "{0} / {1}", UNSIGNED, _integer(ref.trunc_divide))
    yield Operation("{0} / {1}", "{0} / {1}", SIGNED, _float_quotient, lambda _: "float32")
    yield from rows(
        "T.truncmod({0}, {1}); T.fmod({0}, {1})",
        _integer(lambda a, b: a - b * ref.trunc_divide(a, b)),
    )
    yield from rows("{0} << {1}; T.shift_left({0}, {1})", _sized(ref.shift_left))
    yield from rows("{0} >> {1}; T.shift_right({0}, {1})", _sized(ref.shift_right))
    yield from rows("{0} & {1}; T.bitwise_and({0}, {1})", _integer(operator.and_))
    yield from rows("{0} | {1}; T.bitwise_or({0}, {1})", _integer(operator.or_))
    yield from rows("{0} ^ {1}; T.bitwise_xor({0}, {1})", _integer(operator.xor))
    yield from rows("~{0}; T.bitwise_not({0})", _integer(operator.invert))
    yield from rows("-{0}", _integer(operator.neg))
    yield from rows("T.abs({0}); abs({0})", _integer(abs))
    yield from rows("T.min({0}, {1})", _integer(min))
    yield from rows("T.max({0}, {1})", _integer(max))
    yield from rows("{0} ** {1}; T.pow({0}, {1})", _sized(ref.power))
    yield from rows("T.popcount({0})", _sized(lambda v, bits: (v & ((1 << bits) - 1)).bit_count()))
    yield from rows("T.ceildiv({0}, {1})", _integer(lambda a, b: -(-a // b) if b else 0))
    yield from rows("T.align_up({0}, {1})", _integer(lambda a, b: -(-a // b) * b if b else 0))
    yield from rows(
        "T.floor({0}); T.ceil({0}); T.round({0}); T.trunc({0}); T.nearbyint({0})",
        _integer(lambda v: v),
    )


def _float_rows() -> Iterable[Operation]:
    every = (*FLOAT8, *FLOATS, "tfloat32")

    def row(text: str, function: Callable[..., np.ndarray]) -> Operation:
        name = text.split("(")[0] if text.startswith("T.") else text
        return Operation(name, text, every, _rounded(function), _arithmetic_type)

    yield row("{0} + {1}", np.add)
    yield row("{0} - {1}", np.subtract)
    yield row("{0} * {1}", np.multiply)
    yield row("{0} / {1}", np.divide)
    yield row("-{0}", np.negative)
    yield row("T.abs({0})", np.abs)
    yield row("abs({0})", np.abs)
    yield Operation("T.min", "T.min({0}, {1})", every, _extreme(_lesser))
    yield Operation("T.max", "T.max({0}, {1})", every, _extreme(_greater))
    yield row("T.fmod({0}, {1})", np.fmod)
    yield row("T.truncmod({0}, {1})", np.fmod)
    yield row("{0} % {1}", _float_floormod)
    yield row("T.floormod({0}, {1})", _float_floormod)
    for text, whole in (
        ("{0} // {1}", np.floor),
        ("T.floordiv({0}, {1})", np.floor),
        ("T.truncdiv({0}, {1})", np.trunc),
    ):
        name = text.split("(")[0] if text.startswith("T.") else text
        yield Operation(name, text, every, _quotient_then(whole), _arithmetic_type)
    for name, whole in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc)):
        yield row(f"T.{name}({{0}})", whole)
    yield row("T.round({0})", np.rint)
    yield row("T.nearbyint({0})", np.rint)


#: Those that an engine computes as such; more_scalars.py has those made of others.
_FUNCTIONS = (
    "exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan",
    "atan", "sinh", "cosh", "tanh", "erf", "sigmoid", "pow", "atan2",
)  # fmt: skip

#: Units in the last place that CPU and GPU code may be off in float32 and float64.
_ULPS = {"tanh": 3, "atan2": 3, "rsqrt": 2, "sqrt": 0.5001, "sigmoid": 4}


def _function_rows() -> Iterable[Operation]:
    for name in _FUNCTIONS:
        operands = "{0}, {1}" if name in ("pow", "atan2") else "{0}"
        # A power of integers is one, and not a function of floats.
        floats = (*FLOAT8, *FLOATS, "tfloat32")
        dtypes = floats if name == "pow" else ("bool", *INTEGERS, *floats)
        yield Operation(
            f"T.{name}",
            f"T.{name}({operands})",
            dtypes,
            _real(name),
            _arithmetic_type if name == "pow" else _function_type,
            _ULPS.get(name, 2),
            quick=(*_FEW, *FLOATS, "float8_e5m2"),
        )
    floats = (*FLOAT8, *FLOATS, "tfloat32")
    yield Operation("{0} ** {1}", "{0} ** {1}", floats, _real("pow"), _arithmetic_type, 2)


def _bool_rows() -> Iterable[Operation]:
    """Arithmetic is int32; a choice among bools is one."""
    for text, function in (
        ("{0} + {1}", operator.add), ("{0} - {1}", operator.sub), ("{0} * {1}", operator.mul),
        ("{0} // {1}", lambda a, b: a // b if b else 0), ("-{0}", operator.neg),
        ("{0} % {1}", lambda a, b: a % b if b else a),
    ):  # fmt: skip
        yield Operation(text, text, ("bool",), _as_int32(function), _arithmetic_type)
    for text, function in (
        ("{0} & {1}", operator.and_), ("{0} | {1}", operator.or_), ("{0} ^ {1}", operator.xor),
        ("T.min({0}, {1})", min), ("T.max({0}, {1})", max), ("~{0}", operator.not_),
        ("T.abs({0})", abs), ("T.popcount({0})", abs), ("T.floor({0})", abs),
    ):  # fmt: skip
        name = text.split("(")[0] if text.startswith("T.") else text
        yield Operation(name, text, ("bool",), _integer(function))


def _as_int32(function: Callable[..., int]) -> Reference:
    return lambda dtype, *arrays: ref.integers(
        function, "int32", *(array.astype(np.int32) for array in arrays)
    )


def _shared_rows() -> Iterable[Operation]:
    """Of all dtypes."""
    for text, function in (
        ("{0} < {1}", operator.lt),
        ("{0} <= {1}", operator.le),
        ("{0} > {1}", operator.gt),
        ("{0} >= {1}", operator.ge),
        ("{0} == {1}", operator.eq),
        ("{0} != {1}", operator.ne),
    ):
        yield Operation(text, text, DTYPES, _compared(function), _to_bool)
    # Integers are numbers: all finite.
    for name, question in (
        ("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite),
    ):  # fmt: skip
        yield Operation(f"T.{name}", f"T.{name}({{0}})", DTYPES, _asked(question), _to_bool)
    choices = tuple(d for d in DTYPES)
    for name in ("if_then_else", "Select"):
        yield Operation(f"T.{name}", f"T.{name}({{0}} < {{1}}, {{0}}, {{2}})", choices, _chosen)
    yield Operation("T.clamp", "T.clamp({0}, {1}, {2})", DTYPES, _clamped)
    yield Operation("T.max_value", "T.max_value('{dtype}')", DTYPES, _constant(_greatest))
    yield Operation("T.min_value", "T.min_value('{dtype}')", DTYPES, _constant(_least))
    endless = tuple(d for d in DTYPES if is_float(d) and d != "float8_e4m3fn")
    yield Operation("T.infinity", "T.infinity('{dtype}')", endless, _constant(lambda _: np.inf))
    yield Operation(
        "T.__ldg", "T.__ldg({0})", DTYPES, lambda dtype, a: ref.convert(a, dtype, dtype)
    )
    yield Operation("=", "{0}", DTYPES, lambda dtype, a: ref.convert(a, dtype, dtype))
    yield Operation(
        "not {0}", "T.Cast('bool', {0}) == False", DTYPES,
        _compared(lambda a: ~(a != 0)), _to_bool,
    )  # fmt: skip


#: Names that TVM and TileLang give to operators (language/nodes.py).
_OTHER_NAMES = {
    "{0} + {1}": "T.Add", "{0} - {1}": "T.Sub", "{0} * {1}": "T.Mul",
    "T.truncdiv({0}, {1})": "T.Div", "T.truncmod({0}, {1})": "T.Mod", "{0} // {1}": "T.FloorDiv",
    "{0} % {1}": "T.FloorMod",
    "T.min({0}, {1})": "T.Min", "T.max({0}, {1})": "T.Max", "{0} == {1}": "T.EQ",
    "{0} != {1}": "T.NE", "{0} < {1}": "T.LT", "{0} <= {1}": "T.LE", "{0} > {1}": "T.GT",
    "{0} >= {1}": "T.GE", "T.ceildiv({0}, {1})": "T.cdiv", "T.abs({0})": "T.fabs",
}  # fmt: skip


def _with_other_names(rows: Iterable[Operation]) -> Iterable[Operation]:
    for row in rows:
        yield row
        if name := _OTHER_NAMES.get(row.text):
            operands = "{0}, {1}" if row.arity == 2 else "{0}"
            yield replace(row, name=name, text=f"{name}({operands})", quick=("int32", "float32"))
        if row.text == "{0} * {1}":
            yield replace(row, name="T.fmul", text="T.fmul({0}, {1})", quick=("float32",))
        if row.text == "{0} < {1}":
            yield replace(row, name="T.likely", text="T.likely({0} < {1})", quick=("float32",))


OPERATIONS: tuple[Operation, ...] = tuple(
    _with_other_names(
        (
            *_integer_rows(),
            *_float_rows(),
            *_function_rows(),
            *_bool_rows(),
            *more_scalars.rows(Operation, _real, _rounded, _integer),
            *_shared_rows(),
        )
    )
)


def cases(dtype: str, arity: int, full: bool) -> list[Case]:
    """The statements of a kernel whose operands are `arity` arrays of `dtype`."""

    def is_chosen(operation: Operation) -> bool:
        dtypes = operation.dtypes if full or operation.quick is None else operation.quick
        return dtype in dtypes and dtype in operation.dtypes and operation.arity == arity

    return [Case(operation, dtype) for operation in OPERATIONS if is_chosen(operation)]


# ---- Casts ----

MODES = ("rn", "rz", "rm", "rp")


def casts(source: str, full: bool) -> list[Case]:
    """Every way to another dtype: all targets; for floats all roundings, with and without `sat`. Of
    `make test` the roundings of a few sources."""
    rows = []
    has_modes = full or source in ("int32", "uint64", "float32", "float64")

    def add(text: str, target: str, reference: Reference) -> None:
        rows.append(Case(Operation(text, text, (source,), reference, lambda _: target), source))

    for target in DTYPES:

        def reference(dtype, array, target=target, mode="rn", sat=False):
            return ref.convert(array, dtype, target, mode, sat)

        add(f'T.cast({{0}}, "{target}")', target, reference)
        if full:
            add(f"T.{target}({{0}})", target, reference)
            add(f'T.Cast("{target}", {{0}})', target, reference)
        if not is_float(target) or not has_modes:
            continue
        for mode in MODES:
            for sat in (False, True):
                if sat or (mode != "rn" and target != source):
                    text = f'T.cast({{0}}, "{target}", round="{mode}", sat={sat})'
                    add(
                        text,
                        target,
                        lambda dtype, array, target=target, mode=mode, sat=sat: ref.convert(
                            array, dtype, target, mode, sat
                        ),
                    )
    for target in DTYPES:
        same = numpy_of(target).itemsize == numpy_of(source).itemsize
        if same and "bool" not in (source, target):
            add(
                f'T.reinterpret({{0}}, "{target}")',
                target,
                lambda dtype, array, target=target: ref.reinterpret(array, dtype, target),
            )
    return rows


__all__ = ["FLOAT8", "MODES", "OPERATIONS", "Case", "Operation", "cases", "casts"]
