"""Functions made of others, and arithmetic with a rounding mode."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

COUNT = 256


def edges(dtype: str) -> np.ndarray:
    """Special values first, then random ones over the whole range."""
    rng = np.random.default_rng(5)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-30, -1e-38, 1e30]
    scale = 10.0 ** rng.uniform(-6, 3, COUNT - len(special))
    values = np.concatenate([special, rng.standard_normal(len(scale)) * scale])
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def unary(function: Callable[..., object], dtype: str, result: str | None = None):
    @T.prim_func
    def main(A: T.Tensor((COUNT,), dtype), B: T.Tensor((COUNT,), result or dtype)):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(COUNT):
                B[i] = function(A[i])

    return main


def binary(function: Callable[..., object], dtype: str, second: str | None = None):
    @T.prim_func
    def main(
        A: T.Tensor((COUNT,), dtype),
        B: T.Tensor((COUNT,), second or dtype),
        C: T.Tensor((COUNT,), dtype),
    ):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(COUNT):
                C[i] = function(A[i], B[i])

    return main


@ON_ALL
@pytest.mark.parametrize("name", ["asin", "acos", "asinh", "acosh", "atanh"])
def test_inverse_functions(device: str, name: str) -> None:
    """Rounded from float64: at most one unit in the last place from the function."""
    a = edges("float32")
    b = np.zeros_like(a)
    run(unary(getattr(T, name), "float32"), device, a, b)
    numpy_name = {"asin": "arcsin", "acos": "arccos"}.get(name, "arc" + name[1:])
    with np.errstate(all="ignore"):
        expected = getattr(np, numpy_name)(a.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(np.isnan(b), np.isnan(expected))
    np.testing.assert_array_max_ulp(
        b[~np.isnan(b)], expected[~np.isnan(b)], maxulp=1, dtype=np.float32
    )


@ON_ALL
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_copysign_and_nextafter(device: str, dtype: str) -> None:
    a = edges(dtype)
    b = np.roll(a, 7)
    for function, reference in ((T.copysign, np.copysign), (T.nextafter, np.nextafter)):
        c = np.zeros_like(a)
        run(binary(function, dtype), device, a, b, c)
        with np.errstate(all="ignore"):
            expected = reference(a, b)
        np.testing.assert_array_equal(c, expected)
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(c[number]), np.signbit(expected[number]))


@ON_ALL
def test_hypot_and_ldexp(device: str) -> None:
    a = edges("float32")
    b, c = np.roll(a, 5), np.zeros_like(a)
    run(binary(T.hypot, "float32"), device, a, b, c)
    with np.errstate(all="ignore"):
        expected = np.hypot(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_max_ulp(c, expected, maxulp=1, dtype=np.float32)
    powers = np.random.default_rng(8).integers(-200, 200, COUNT).astype(np.int32)
    run(binary(T.ldexp, "float32", "int32"), device, a, powers, c)
    with np.errstate(all="ignore"):
        expected = np.ldexp(a.astype(np.float64), powers).astype(np.float32)
    np.testing.assert_array_equal(c, expected)


@ON_ALL
@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64"])
def test_leading_zeros_and_first_set_bit(device: str, dtype: str) -> None:
    info = np.iinfo(dtype)
    rng = np.random.default_rng(4)
    a = (rng.integers(0, 2**63, COUNT, np.uint64) >> rng.integers(0, 64, COUNT, np.uint64)).astype(
        dtype
    )
    a[:4] = [0, 1, info.max, info.min]
    b = np.zeros(COUNT, np.int32)
    run(unary(T.clz, dtype, "int32"), device, a, b)
    patterns = [int(x) & (2**info.bits - 1) for x in a]
    assert b.tolist() == [info.bits - x.bit_length() for x in patterns]
    run(unary(T.__ffs, dtype, "int32"), device, a, b)
    assert b.tolist() == [(x & -x).bit_length() for x in patterns]


def rounded(value: Fraction, mode: str) -> np.float32:
    """The float32 that a rounding mode gives, by comparison with exact numbers."""
    near = np.float32(float(value))
    with np.errstate(all="ignore"):
        candidates = [
            np.nextafter(near, np.float32(-np.inf)),
            near,
            np.nextafter(near, np.float32(np.inf)),
        ]
    finite = [x for x in candidates if np.isfinite(x)]
    if mode == "rd" or (mode == "rz" and value > 0):
        below = [x for x in finite if Fraction(float(x)) <= value]
        return max(below) if below else np.float32(-np.inf)
    above = [x for x in finite if Fraction(float(x)) >= value]
    return min(above) if above else np.float32(np.inf)


def ordinary(seed: int, spread: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(COUNT) * 2.0 ** rng.integers(-spread, spread, COUNT)).astype(
        np.float32
    )


@ON_ALL
@pytest.mark.parametrize("mode", ["rz", "ru", "rd"])
def test_rounding_modes(device: str, mode: str) -> None:
    """Against exact fractions: sums with far apart exponents, products, quotients, fused."""
    a, b, z = ordinary(1, 40), ordinary(2, 40), ordinary(3, 40)
    a[:4], b[:4] = [1, 1, 3.4e38, -3.4e38], [1e-30, -1e-30, 3.4e38, -3.4e38]
    exact = [tuple(Fraction(float(v)) for v in row) for row in zip(a, b, z, strict=True)]
    cases = [
        (T.ieee_add, lambda x, y, w: x + y),
        (T.ieee_sub, lambda x, y, w: x - y),
        (T.ieee_mul, lambda x, y, w: x * y),
        (T.ieee_fdiv, lambda x, y, w: x / y),
    ]
    for function, reference in cases:
        c = np.zeros_like(a)
        run(binary(lambda x, y, f=function: f(x, y, mode), "float32"), device, a, b, c)
        expected = np.array([rounded(reference(*row), mode) for row in exact])
        np.testing.assert_array_equal(c, expected, err_msg=function.__name__)

    @T.prim_func
    def fused(A: T.Tensor((COUNT,), "float32"), B: T.Tensor((COUNT,), "float32"),
              Z: T.Tensor((COUNT,), "float32"), C: T.Tensor((COUNT,), "float32")):  # fmt: skip
        with T.Kernel(1, threads=64):
            for i in T.Parallel(COUNT):
                C[i] = T.ieee_fmaf(A[i], B[i], Z[i], mode)

    c = np.zeros_like(a)
    run(fused, device, a, b, z, c)
    expected = np.array([rounded(x * y + w, mode) for x, y, w in exact])
    np.testing.assert_array_equal(c, expected)


@ON_ALL
def test_fused_multiply_add_rounds_once(device: str) -> None:
    """x * x - 1 + tiny cancels all but the bits that a rounded product has lost."""

    @T.prim_func
    def main(A: T.Tensor((COUNT,), "float32"), C: T.Tensor((COUNT,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(COUNT):
                C[i] = T.fma(A[i], A[i], -1.0)

    a = (1 + np.random.default_rng(6).uniform(0, 1e-3, COUNT)).astype(np.float32)
    c = np.zeros_like(a)
    run(main, device, a, c)
    exact = [Fraction(float(x)) ** 2 - 1 for x in a]
    np.testing.assert_array_equal(c, np.array([np.float32(float(x)) for x in exact]))


def test_unknown_rounding_mode_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="'rn', 'rz', 'ru' or 'rd', got 'rp'"):
        binary(lambda x, y: T.ieee_add(x, y, "rp"), "float32")
