"""Constants fold to what the engines compute: Python numbers, typed constants and loaded values
give the same results of every scalar function, also in the corners."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run
from tilewright.language import folding

NAN, INF = float("nan"), float("inf")
#: All functions over all edges: on the interpreter always, on the others in the long tests.
LONG = [pytest.param(d, marks=pytest.mark.slow) for d in ("cpu", "vgpu:sm_80", "vgpu:sm_90")]
SWEPT = pytest.mark.parametrize("device", ["interp", *LONG])
REALS = [float(np.float32(x)) for x in (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 88.0, 100.0, -100.0, 1000.0, -1000.0,
    0.75, -0.3, 16777216.0, -3e38, 1e-3, INF, -INF, NAN,
)]  # fmt: skip
PARTNERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1000.0, -1000.0, INF, -INF, NAN)
INTEGERS = (0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, -33, 100, 2**31 - 1, -(2**31), 1 - 2**31)
WIDE = (0, 1, -1, 3, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 10**18 + 7, 2**63 - 1)

#: The language's names, where they are not those of the operations.
NAMES = {"shl": "shift_left", "shr": "shift_right", "and": "bitwise_and", "or": "bitwise_or",
         "xor": "bitwise_xor", "bitnot": "bitwise_not"}  # fmt: skip
OF_INTEGERS = {"ceildiv", "shl", "shr", "and", "or", "xor", "bitnot", "popcount"}
OF_REALS = {"atan2"} | set(folding.FLOATS) - OF_INTEGERS - {
    "abs",
    "floor",
    "ceil",
    "round",
    "trunc",
}
UNARY, BINARY = list(folding.FLOATS), list(folding.PAIRS)


def function(name: str) -> Callable[..., Any]:
    return getattr(T, NAMES.get(name, name))


def folded(name: str, row: tuple[Any, ...]) -> Any:
    """The function of Python numbers, or None where it is refused."""
    try:
        return function(name)(*row)
    except tilewright.TilewrightError as error:
        assert re.search("division|modulo|fit 64 bits", str(error)), error
        return None


def evaluate(device: str, name: str, rows: list[tuple[Any, ...]], dtype: str, out: str) -> Any:
    """The function of Python numbers, of typed constants and of loaded values."""
    call, size = function(name), len(rows)
    columns = [np.array(column, dtype) for column in zip(*rows, strict=True)]

    @T.prim_func
    def main(
        A: T.Tensor((size,), dtype),
        B: T.Tensor((size,), dtype),
        Python: T.Tensor((size,), out),
        Typed: T.Tensor((size,), out),
        Loaded: T.Tensor((size,), out),
    ):
        with T.Kernel(1, threads=32):
            for k, row in enumerate(rows):
                Python[k] = call(*row)
                Typed[k] = call(*[T.cast(value, dtype) for value in row])
            for i in T.Parallel(size):
                Loaded[i] = call(A[i], B[i]) if len(columns) == 2 else call(A[i])

    results = [np.zeros(size, out) for _ in range(3)]
    run(main, device, columns[0], columns[-1], *results)
    return results


def check(device: str, name: str, rows: list[tuple[Any, ...]], dtype: str, out: str) -> None:
    python, typed, loaded = evaluate(device, name, rows, dtype, out)
    for row, *values in zip(rows, python, typed, loaded, strict=True):
        for value in values[:2]:
            if out != "float32":
                assert value == values[2], (row, values)
            elif not (np.isnan(value) and np.isnan(values[2])):
                assert np.signbit(value) == np.signbit(values[2]), (row, values)
                np.testing.assert_allclose(
                    value, values[2], rtol=1e-5, atol=1e-40, err_msg=str(row)
                )


def rows_of(
    name: str, numbers: tuple[Any, ...], partners: tuple[Any, ...]
) -> list[tuple[Any, ...]]:
    if name in folding.FLOATS:
        return [(number,) for number in numbers]
    return list(itertools.product(numbers, partners))


@SWEPT
@pytest.mark.parametrize("name", [n for n in UNARY + BINARY if n not in OF_INTEGERS])
def test_functions_of_floats(device: str, name: str) -> None:
    rows = rows_of(name, REALS, PARTNERS)
    out = "bool" if name.startswith("is") else "float32"
    check(device, name, rows, "float32", out)
    assert type(folded(name, (1.5, 2.5)[: len(rows[0])])) is (bool if out == "bool" else float)


@SWEPT
@pytest.mark.parametrize("name", [n for n in UNARY + BINARY if n not in OF_REALS])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_functions_of_integers(device: str, name: str, dtype: str) -> None:
    numbers = INTEGERS if dtype == "int32" else WIDE
    limits = np.iinfo(dtype)
    rows = []
    for row in rows_of(name, numbers, (0, 1, -1, 2, -3, 31, 40, 70, -5) + numbers[-3:]):
        value = folded(name, row)
        if value is None:
            continue
        assert type(value) is int
        is_narrow = name == "popcount" and dtype == "int64" and -(2**31) <= row[0] < 0
        if limits.min <= value <= limits.max and not is_narrow:  # counted in 32 bits
            rows.append(row)
    check(device, name, rows, dtype, dtype)


@ON_ALL
def test_corners_on_every_engine(device: str) -> None:
    """One kernel: each function of loaded values, and the number that Python folds it to."""
    cases = [
        (T.max, "float32", (NAN, 1.0), 1.0),
        (T.min, "float32", (-0.0, 0.0), -0.0),
        (T.rsqrt, "float32", (0.0,), INF),
        (T.log, "float32", (-1.0,), NAN),
        (T.exp, "float32", (1000.0,), INF),
        (T.pow, "float32", (-8.0, 0.5), NAN),
        (T.atan2, "float32", (-0.0, -0.0), -np.pi),
        (T.ceil, "float32", (-0.5,), -0.0),
        (T.sigmoid, "float32", (-90.0,), 8.194012e-40),
        (T.sigmoid, "float32", (-200.0,), 0.0),
        (T.truncmod, "int64", (2**62 + 1, 1000), 905),
        (T.truncdiv, "int64", (-7, 2), -3),
        (T.ceildiv, "int64", (7, -2), -3),
        (T.ceildiv, "int64", (2**63 - 1, 2), 2**62),
        (T.popcount, "int32", (-1,), 32),
        (T.shift_right, "int32", (-5, -1), -1),
        (T.shift_left, "int32", (5, 100), 0),
    ]
    reals = np.zeros((2, len(cases)), np.float32)
    integers = np.zeros((2, len(cases)), np.int64)
    for k, (_, dtype, arguments, _) in enumerate(cases):
        for side, argument in enumerate(arguments):
            (reals if dtype == "float32" else integers)[side, k] = argument
    count = len(cases)

    @T.prim_func
    def main(
        R: T.Tensor((2, count), "float32"),
        I: T.Tensor((2, count), "int64"),
        Reals: T.Tensor((3, count), "float32"),
        Integers: T.Tensor((3, count), "int64"),
    ):
        with T.Kernel(1, threads=32):
            for k, (function, dtype, arguments, _) in enumerate(cases):
                source = R if dtype == "float32" else I
                target = Reals if dtype == "float32" else Integers
                target[0, k] = function(*arguments)
                target[1, k] = function(*[T.cast(value, dtype) for value in arguments])
                loaded = [T.cast(source[side, k], dtype) for side in range(len(arguments))]
                target[2, k] = function(*loaded)

    found = np.zeros((3, count), np.float32), np.zeros((3, count), np.int64)
    run(main, device, reals, integers, *found)
    for k, (_, dtype, arguments, wanted) in enumerate(cases):
        values = found[0 if dtype == "float32" else 1][:, k]
        np.testing.assert_allclose(values, wanted, rtol=1e-5, atol=1e-44, err_msg=str(arguments))
        assert (np.signbit(values) == np.signbit(wanted)).all() or np.isnan(wanted), arguments
