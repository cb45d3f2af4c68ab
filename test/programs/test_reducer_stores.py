"""Stores that contribute to a reducer, whatever dtypes the element and the value have."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

PAIRS = [
    ("bool", "bool"), ("int8", "int8"), ("uint8", "int8"), ("int8", "int32"), ("int16", "uint8"),
    ("int32", "uint32"), ("int64", "int32"), ("float8_e5m2", "float8_e5m2"),
    ("float8_e4m3fn", "float32"), ("tfloat32", "tfloat32"), ("float16", "float32"),
    ("bfloat16", "float32"), ("float32", "float64"), ("float32", "float16"), ("float32", "int32"),
]  # fmt: skip


def numpy_of(dtype: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, dtype, "float32" if dtype == "tfloat32" else dtype))


def adding(reducer: str, value: str):
    @T.prim_func
    def main(A: T.Tensor((16, 24), value), B: T.Tensor((24,), reducer)):
        with T.Kernel(1, threads=96):
            r = T.alloc_reducer((24,), reducer, op="sum")
            T.reducer_init(r)
            for i, j in T.Parallel(8, 24):
                r[j] += A[i, j]
            for i, j in T.Parallel(8, 24):
                r[j] = A[i + 8, j] + r[j]
            T.finalize_reducer(r, B)

    return main


def extreme(reducer: str, value: str, low: bool):
    @T.prim_func
    def main(A: T.Tensor((16, 24), value), B: T.Tensor((24,), reducer)):
        with T.Kernel(1, threads=96):
            r = T.alloc_reducer((24,), reducer, op="min" if low else "max")
            T.reducer_init(r)
            for i, j in T.Parallel(16, 24):
                if low:
                    r[j] = T.min(r[j], A[i, j])
                else:
                    r[j] = T.max(A[i, j], r[j])
            T.finalize_reducer(r, B)

    return main


def made_up(dtype: str) -> np.ndarray:
    """Numbers of which no partial sum rounds, in any order."""
    rng = np.random.default_rng(3)
    if dtype.startswith("float8"):
        return (rng.integers(0, 16, (16, 24)) == 3).astype(numpy_of(dtype))
    return rng.integers(0, 2 if dtype == "bool" else 9, (16, 24)).astype(numpy_of(dtype))


@ON_ALL
@pytest.mark.parametrize(("reducer", "value"), PAIRS)
def test_sums(device: str, reducer: str, value: str) -> None:
    """Where the sum is formed in a wider type, it was a store, and a conflict of iterations."""
    a = made_up(value if not reducer.startswith("float8") else reducer).astype(numpy_of(value))
    b = np.ones(24, numpy_of(reducer))
    run(adding(reducer, value), device, a, b)
    np.testing.assert_array_equal(b, a.astype(np.float64).sum(0).astype(numpy_of(reducer)))


@ON_ALL
@pytest.mark.parametrize(
    ("reducer", "value"), [pair for pair in PAIRS if pair not in PAIRS[2:6] and pair[1] != "int32"]
)
@pytest.mark.parametrize("low", [False, True])
def test_extremes(device: str, reducer: str, value: str, low: bool) -> None:
    a = made_up(value)
    b = np.ones(24, numpy_of(reducer))
    run(extreme(reducer, value, low), device, a, b)
    wide = a.astype(np.float64)
    want = (wide.min(0) if low else wide.max(0)).astype(numpy_of(reducer))
    np.testing.assert_array_equal(b, want)


@ON_ALL
def test_numbers_and_differences(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float16"), B: T.Tensor((4,), "float16"),
             C: T.Tensor((4,), "int8"), D: T.Tensor((4,), "int8")):  # fmt: skip
        with T.Kernel(1, threads=64):
            r = T.alloc_reducer((4,), "float16")
            n = T.alloc_reducer((4,), "int8")
            m = T.alloc_reducer((4,), "int8", op="max")
            T.reducer_init(r)
            T.reducer_init(n)
            T.reducer_init(m)
            for i in T.Parallel(64):
                r[i % 4] += A[i] * 0.5
                r[i % 4] -= A[i]
                n[i % 4] += 1
                m[i % 4] = T.max(m[i % 4], -5)
            T.finalize_reducer(r, B)
            T.finalize_reducer(n, C)
            T.finalize_reducer(m, D)

    a = np.random.default_rng(2).integers(-8, 8, 64).astype(np.float16)
    b, c, d = np.zeros(4, np.float16), np.zeros(4, np.int8), np.zeros(4, np.int8)
    run(main, device, a, b, c, d)
    np.testing.assert_array_equal(b, a.reshape(16, 4).sum(0) * -0.5)
    np.testing.assert_array_equal(c, 16)
    np.testing.assert_array_equal(d, -5)


@pytest.mark.parametrize(
    ("reducer", "value", "where"),
    [("int8", "int32", "int32"), ("int8", "uint8", "uint8"), ("int32", "uint32", "uint32"),
     ("bfloat16", "float16", "float16"), ("int8", "float32", "float32")],
)  # fmt: skip
def test_a_maximum_that_converting_would_change_is_refused(
    reducer: str, value: str, where: str
) -> None:
    with pytest.raises(tilewright.TilewrightError, match=f"combines its element in {where}"):
        extreme(reducer, value, False)
