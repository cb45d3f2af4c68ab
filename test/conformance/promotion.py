"""Operands of two dtypes, and literals: they meet in one type and are computed in it.

The rules are those of docs/semantics.md, "Types of expressions", written anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance import references as ref
from conformance.engines import DTYPES, INTEGERS, UNSIGNED, bits_of_dtype, is_float
from conformance.measure import BLOCK, Batch, Statement, operands, padded
from conformance.scalars import OPERATIONS, Case, Operation

#: The higher kind wins.
_KINDS = (("bool",), INTEGERS, ("float8_e4m3fn", "float8_e5m2"), ("bfloat16",))


def _kind(dtype: str) -> int:
    return next((k for k, members in enumerate(_KINDS) if dtype in members), len(_KINDS))


def meet(a: str, b: str) -> str:
    """The type in which two dtypes meet."""
    if a == b:
        return a
    a, b = ("float32" if dtype == "tfloat32" else dtype for dtype in (a, b))
    if _kind(a) != _kind(b):
        return a if _kind(a) > _kind(b) else b
    if a != b and "float8" in a:
        return "float32"
    if bits_of_dtype(a) != bits_of_dtype(b):
        return a if bits_of_dtype(a) > bits_of_dtype(b) else b
    return a if a in UNSIGNED else b


_ARITHMETIC = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} // {1}", "{0} % {1}")
_CHOICES = ("T.min({0}, {1})", "T.max({0}, {1})")
_COMPARISONS = ("{0} < {1}", "{0} <= {1}", "{0} == {1}", "{0} != {1}")
_BITS = ("{0} & {1}", "{0} | {1}", "{0} ^ {1}")
_SHIFTS = ("{0} << {1}", "{0} >> {1}")


def _row(text: str, dtype: str) -> Operation:
    """The row of an operation on one dtype."""
    return next(row for row in OPERATIONS if row.text == text and dtype in row.dtypes)


def _computed(text: str, common: str) -> str | None:
    """The dtype that both operands take; none where the operation is refused."""
    if text in (*_BITS, *_SHIFTS):
        if is_float(common):
            return None
        return "int32" if text in _SHIFTS and common == "bool" else common
    return "int32" if text in _ARITHMETIC and common == "bool" else common


def _operation(text: str, a: str, b: str) -> Operation | None:
    dtype = _computed(text, meet(a, b))
    if dtype is None:
        return None
    row = _row(text, dtype)

    def reference(_: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return row.reference(dtype, ref.convert(x, a, dtype), ref.convert(y, b, dtype))

    return Operation(text, text, (), reference, lambda _: row.result(dtype))


def _literal_operation(text: str, a: str, literal: int | float, swap: bool) -> Operation | None:
    """An operation with a Python number on one side."""
    is_real = isinstance(literal, float)
    common = meet(a, "float32" if is_real else "int32")
    if text in (*_BITS, *_SHIFTS):
        # A bit pattern or a count takes the other side's dtype.
        common = "int32" if a == "bool" else a
        if is_real or is_float(a):
            return None
    dtype = _computed(text, common)
    row = _row(text, dtype)
    value = np.array([literal], np.float64 if is_real else np.int64)
    number = ref.convert(value, str(value.dtype), dtype)

    def reference(_: str, x: np.ndarray) -> np.ndarray:
        pair = [ref.convert(x, a, dtype), np.resize(number, len(x))]
        return row.reference(dtype, *(reversed(pair) if swap else pair))

    sides = (repr(literal), "{0}") if swap else ("{0}", repr(literal))
    written = text.format(*sides)
    return Operation(written, written, (), reference, lambda _: row.result(dtype))


_LITERALS = (0, 1, 2, 3, 7, 100, 0.1, 2.5, -1.5, 1.0)
_SIGNED_LITERALS = (-1, -3)


def _texts(full: bool) -> tuple[str, ...]:
    some = ("{0} - {1}", "T.max({0}, {1})", "{0} < {1}", "{0} >> {1}")
    return _ARITHMETIC + _CHOICES + _COMPARISONS + _BITS + _SHIFTS if full else some


def pairs(a: str, full: bool) -> Batch:
    """One kernel: a value of dtype `a` with one of each dtype."""
    others = DTYPES if full else tuple(d for d in DTYPES if bits_of_dtype(d) != 16 or d == a)
    count = 4 * BLOCK if full else BLOCK
    rng = np.random.default_rng(23)

    def values(dtype: str, seed: int) -> np.ndarray:
        drawn = padded(operands(dtype, count, seed))
        return drawn[rng.integers(0, len(drawn), count)]

    statements = []
    for place, b in enumerate(others, start=1):
        for text in _texts(full):
            if (operation := _operation(text, a, b)) is not None:
                case = Case(operation, f"{a} with {b}")
                statements.append(Statement(case, places=(0, place, 0)))
    arrays = (values(a, 1), *(values(b, 2) for b in others))
    return Batch(f"{a} with all", tuple(statements), arrays, (a, *others))


def literals(a: str, full: bool) -> Batch:
    """One kernel: a value of dtype `a` with Python numbers on either side."""
    numbers = _LITERALS if a == "bool" or a.startswith("u") else _LITERALS + _SIGNED_LITERALS
    statements = []
    for text in _texts(full):
        for literal in numbers if full else numbers[3:8]:
            for swap in (False, True):
                operation = _literal_operation(text, a, literal, swap)
                if operation is not None:
                    statements.append(Statement(Case(operation, f"{a} with a literal")))
    return Batch(f"{a} literals", tuple(statements), (padded(operands(a, BLOCK, 3)),), (a,))


def batches(a: str, full: bool) -> Iterator[Batch]:
    yield pairs(a, full)
    yield literals(a, full)
