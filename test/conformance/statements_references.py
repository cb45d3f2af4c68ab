"""What statements mean, in Python integers, numpy and ml_dtypes, from docs/semantics.md."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.engines import FLOAT8, bits_of_dtype, is_float, numpy_of

KINDS = ("sum", "max", "min", "abssum", "absmax", "bitand", "bitor", "bitxor")
SUMS = ("sum", "abssum")


# ---- Numbers ----


def wrap(value: int, dtype: str) -> int:
    """An integer as a value of a dtype; bool is 0 or 1."""
    if dtype == "bool":
        return int(value != 0)
    bits = bits_of_dtype(dtype)
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.startswith("int") and value >> (bits - 1) else value


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """float64 values in a float dtype: to nearest, ties to even; the 8-bit floats saturate."""
    values = np.asarray(values, np.float64)
    if dtype in FLOAT8:
        largest = 448.0 if dtype == "float8_e4m3fn" else 57344.0
        values = np.where(np.isnan(values), values, np.clip(values, -largest, largest))
    if dtype == "tfloat32":
        bits = values.astype(np.float32).view(np.uint32)
        tied_away = ((bits.astype(np.uint64) + 0x1000) & 0xFFFFE000).astype(np.uint32)
        return np.where(np.isfinite(values), tied_away, bits).astype(np.uint32).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(numpy_of(dtype))


def numbers(array: np.ndarray, dtype: str) -> list[Any]:
    """The elements as Python numbers: exact."""
    if not is_float(dtype):
        return [int(x) for x in array.ravel()]
    if dtype == "tfloat32":
        array = rounded(array.astype(np.float64), dtype)
    return [float(x) for x in array.astype(np.float64).ravel()]


def array_of(values: list[Any], dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Python numbers as an array of a dtype: integers wrap, floats round once."""
    if is_float(dtype):
        return rounded(np.array(values, np.float64), dtype).reshape(shape)
    return np.array([wrap(v, dtype) for v in values], numpy_of(dtype)).reshape(shape)


def _is_nan(value: Any) -> bool:
    return value != value


def choose(x: Any, y: Any, largest: bool, propagate: bool = False) -> Any:
    """The larger or smaller number: a NaN loses unless it propagates, and -0 is less than +0."""
    if _is_nan(x) or _is_nan(y):
        nan, other = (x, y) if _is_nan(x) else (y, x)
        return nan if propagate else other
    if isinstance(x, float) and x == y == 0:
        negative = np.signbit(x) and np.signbit(y) if largest else np.signbit(x) or np.signbit(y)
        return -0.0 if negative else 0.0
    return max(x, y) if largest else min(x, y)


def combine(kind: str, x: Any, y: Any, propagate: bool = False) -> Any:
    """Two numbers combined, as if exactly."""
    match kind:
        case "sum" | "abssum":
            with np.errstate(invalid="ignore"):
                return float(np.float64(x) + np.float64(y)) if isinstance(x, float) else x + y
        case "max" | "absmax":
            return choose(x, y, True, propagate)
        case "min":
            return choose(x, y, False, propagate)
        case "bitand":
            return x & y
        case "bitor":
            return x | y
        case "bitxor":
            return x ^ y
    raise AssertionError(kind)


def magnitude(value: Any, dtype: str) -> Any:
    return abs(value) if is_float(dtype) else wrap(abs(value), dtype)


# ---- Reductions and scans ----


def reduce(kind: str, source: np.ndarray, dtype: str, dim: int, result: str,
           old: np.ndarray | None = None, propagate: bool = False) -> np.ndarray:  # fmt: skip
    """`T.reduce_kind` along `dim`; `old` takes part where it is given."""
    rows = np.moveaxis(source, dim, -1)
    shape, totals = rows.shape[:-1], []
    for row in rows.reshape(-1, rows.shape[-1]):
        values = numbers(row, dtype)
        if kind.startswith("abs"):
            values = [magnitude(v, dtype) for v in values]
        total = values[0]
        for value in values[1:]:
            total = combine(kind, total, value, propagate)
        totals.append(total)
    if old is not None:
        before = numbers(old, result)
        if kind == "absmax":
            before = [magnitude(v, result) for v in before]
        if kind not in SUMS:
            totals = numbers(array_of(totals, result, shape), result)
        totals = [combine(kind, b, t, propagate) for b, t in zip(before, totals, strict=True)]
    return array_of(totals, result, shape)


def scan(kind: str, source: np.ndarray, dtype: str, dim: int, result: str, reverse: bool
         ) -> np.ndarray:  # fmt: skip
    """Running combinations along `dim`."""
    rows = np.moveaxis(source, dim, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    lines = []
    for row in flat:
        values = numbers(row[::-1] if reverse else row, dtype)
        line = list(itertools.accumulate(values, lambda x, y: combine(kind, x, y)))
        lines += line[::-1] if reverse else line
    return np.moveaxis(array_of(lines, result, rows.shape), -1, dim)


# ---- Products ----


def product(a: np.ndarray, b: np.ndarray, c: np.ndarray | None, dtypes: tuple[str, str, str]
            ) -> np.ndarray:  # fmt: skip
    """a @ b + c, as if exactly, in C's dtype."""
    first, second, result = dtypes
    shape = (a.shape[0], b.shape[1])
    exact = np.float64 if is_float(first) else object
    x = np.array(numbers(a, first), exact).reshape(a.shape)
    y = np.array(numbers(b, second), exact).reshape(b.shape)
    total = x @ y
    if c is not None:
        total = total + np.array(numbers(c, result), exact).reshape(shape)
    return array_of(list(total.ravel()), result, shape)


# ---- Conversions ----


def converted(array: np.ndarray, dtype: str, to: str) -> np.ndarray:
    """Every element in another dtype. (Casts of every pattern are the scalars' part.)"""
    if dtype == to:
        return array
    values = numbers(array, dtype)
    if to == "bool":
        return np.array([v != 0 for v in values]).reshape(array.shape)
    if is_float(dtype) and not is_float(to):
        values = [int(v) for v in values]  # those that a test draws fit
    return array_of(values, to, array.shape)


# ---- Updates ----

UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "max": lambda x, y: choose(x, y, True),
    "min": lambda x, y: choose(x, y, False),
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
}


def updated(kind: str, old: np.ndarray, value: np.ndarray, dtype: str) -> np.ndarray:
    """Elements after an update each; the result is one of the dtype."""
    pairs = zip(numbers(old, dtype), numbers(value, dtype), strict=True)
    return array_of([UPDATES[kind](x, y) for x, y in pairs], dtype, old.shape)
