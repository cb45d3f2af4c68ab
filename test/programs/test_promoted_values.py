"""Values in TileLang's types: what a literal or a neighbour of another dtype makes of a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

N = 64
BYTES = np.arange(256).astype(np.uint8)


def apply(
    device: str, body: Callable[..., Any], dtypes: str, *inputs: np.ndarray, out: str
) -> np.ndarray:
    """`body` of the elements of one or two tensors of 8-bit or other values, stored as `out`."""
    first, second = (dtypes.split() * 2)[:2]
    size = inputs[0].size

    @T.prim_func
    def main(A: T.Tensor((size,), first), B: T.Tensor((size,), second), C: T.Tensor((size,), out)):
        with T.Kernel(T.ceildiv(size, N), threads=32) as bx:
            for i in T.Parallel(N):
                C[bx * N + i] = body(A[bx * N + i], B[bx * N + i])

    result = np.zeros(size, np.dtype(getattr(ml_dtypes, out, out)))
    run(main, device, inputs[0], inputs[-1], result)
    return result


@ON_ALL
def test_exponent_of_a_float16_does_not_overflow(device: str) -> None:
    s = np.linspace(-65000, 65000, 256).astype(np.float16)
    found = apply(device, lambda a, b: -a * 1.44269504, "float16", s, out="float32")
    np.testing.assert_array_equal(found, -s.astype(np.float32) * np.float32(1.44269504))
    small = np.linspace(-12, 12, 256).astype(np.float16)
    found = apply(device, lambda a, b: T.exp2(-a * 1.44269504), "float16", small, out="float32")
    np.testing.assert_allclose(found, np.exp(-small.astype(np.float64)), rtol=1e-5)


@ON_ALL
@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        (lambda a, b: a * 2, lambda a, b: a * 2),
        (lambda a, b: a - 200, lambda a, b: a - 200),
        (lambda a, b: a // -3, lambda a, b: a // -3),
        (lambda a, b: T.max(a, -100) % 7, lambda a, b: np.maximum(a, -100) % 7),
        (lambda a, b: T.if_then_else(a > 3, a, 1000), lambda a, b: np.where(a > 3, a, 1000)),
        (lambda a, b: a & 15, lambda a, b: a & 15),
    ],
    ids=["mul", "sub", "floordiv", "max", "choice", "and"],
)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_narrow_integers_beside_literals(device: str, dtype: str, body: Any, meaning: Any) -> None:
    values = BYTES.view(dtype)
    found = apply(device, body, dtype, values, out="int32")
    np.testing.assert_array_equal(found, meaning(values.astype(np.int64), None))


@ON_ALL
def test_literals_of_shifts_take_the_other_dtype(device: str) -> None:
    found = apply(device, lambda a, b: a << 4, "uint8", BYTES, out="int32")
    np.testing.assert_array_equal(found, BYTES.astype(np.int32) << 4)  # where it is converted
    found = apply(device, lambda a, b: (a << 4) >> 1, "uint8", BYTES, out="int32")
    np.testing.assert_array_equal(found, ((BYTES << 4) >> 1).astype(np.int32))  # wraps at 8 bits
    found = apply(
        device, lambda a, b: (a << 300) + (a >> -1), "int8", BYTES.view("int8"), out="int32"
    )
    np.testing.assert_array_equal(found, np.where(BYTES.view("int8") < 0, -1, 0))


@ON_ALL
def test_integers_meet_in_the_wider_or_unsigned_type(device: str) -> None:
    signed = np.array([-1, 1, 5, -(2**31)] * 16, np.int32)
    unsigned = np.array([0, 2**32 - 1, 7, 2**31] * 16, np.uint32)
    found = apply(
        device, lambda a, b: T.cast(a + b, "int64"), "int32 uint32", signed, unsigned, out="int64"
    )
    np.testing.assert_array_equal(found, (signed.astype(np.int64) + unsigned) % 2**32)
    found = apply(device, lambda a, b: a < b, "int32 uint32", signed, unsigned, out="bool")
    np.testing.assert_array_equal(found, signed.astype(np.uint32) < unsigned)
    narrow = (np.arange(64) * 1000 % 2**16).astype(np.uint16)
    found = apply(device, lambda a, b: a + b, "int32 uint16", signed, narrow, out="int64")
    np.testing.assert_array_equal(found, (signed.astype(np.int64) + narrow).astype(np.int32))
    divisors = np.maximum(unsigned, 1)
    found = apply(device, lambda a, b: a / b, "int32 uint32", signed, divisors, out="uint32")
    np.testing.assert_array_equal(found, signed.astype(np.uint32) // divisors)


@ON_ALL
def test_comparisons_are_in_the_common_type(device: str) -> None:
    values = np.array([0.1, 0.5, 2049.0, -1.0] * 16, np.float16)
    found = apply(device, lambda a, b: a == 0.1, "float16", values, out="bool")
    assert not found.any()  # in float32 no float16 is 0.1
    integers = np.array([0, 1, 2050, 2048] * 16, np.int32)
    found = apply(device, lambda a, b: a >= b, "float16 int32", values, integers, out="bool")
    np.testing.assert_array_equal(found, values >= integers.astype(np.float16))


@ON_ALL
def test_an_update_computes_in_the_common_type_and_casts(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((N,), "float16"), B: T.Tensor((N,), "int8"), C: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(N):
                A[i] += 0.1
                x = T.alloc_var("int8", init=B[i])
                x *= 3
                C[i] = x
                B[i] += 100

    a = np.linspace(-60, 60, N).astype(np.float16)
    b = np.linspace(-128, 127, N).astype(np.int8)
    given, c = (a.copy(), b.copy()), np.zeros(N, np.int32)
    run(main, device, a, b, c)
    added = given[0].astype(np.float32) + np.float32(0.1)
    np.testing.assert_array_equal(a, added.astype(np.float16))
    wide = given[1].astype(np.int32)
    np.testing.assert_array_equal(c, (wide * 3).astype(np.int8))
    np.testing.assert_array_equal(b, (wide + 100).astype(np.int8))


@ON_ALL
def test_a_literal_keeps_its_double(device: str) -> None:
    values = np.linspace(-3, 3, N)
    found = apply(device, lambda a, b: a * 0.1, "float64", values, out="float64")
    np.testing.assert_array_equal(found, values * 0.1)


@ON_ALL
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_operations_round_once_and_saturate(device: str, dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype))
    values = BYTES.view(kind)
    wide = values.astype(np.float32)
    largest = float(ml_dtypes.finfo(kind).max)
    finite = np.isfinite(wide)

    def rounded(x: np.ndarray) -> np.ndarray:
        return np.clip(x, -largest, largest).astype(kind).astype(np.float32)

    for body, meaning in [
        (lambda a, b: a + b, lambda a, b: a + b),
        (lambda a, b: a * 3, lambda a, b: a * np.float32(3)),
        (lambda a, b: T.max(-a, b), lambda a, b: np.maximum(-a, b)),
        (lambda a, b: a / 3 + a, lambda a, b: rounded(a / np.float32(3)) + a),
    ]:
        other = np.roll(values, 37)
        found = apply(device, body, dtype, values, other, out="float32")
        wanted = rounded(meaning(wide, other.astype(np.float32)))
        ok = finite & np.isfinite(other.astype(np.float32))
        np.testing.assert_array_equal(found[ok], wanted[ok])
    found = apply(device, lambda a, b: a != b, dtype, values, np.roll(values, 1), out="bool")
    np.testing.assert_array_equal(found, wide != np.roll(values, 1).astype(np.float32))


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_a_narrow_shift_by_nothing_is_the_value_itself(device: str) -> None:
    """Converted, it was looked up as a shift of itself: for ever (found by random programs)."""

    @T.prim_func
    def main(A: T.Tensor((256,), "uint8"), O: T.Tensor((3, 256), "int32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(256):
                O[0, i] = T.cast(A[i] << 0, "int32")
                O[1, i] = T.cast((A[i] << 3) << 0, "int32")
                O[2, i] = T.cast(A[i] << 1, "int32")

    a = np.arange(256, dtype=np.uint8)
    o = np.zeros((3, 256), np.int32)
    tilewright.compile(main, device=device)(a, o)
    wide = a.astype(np.int32)
    np.testing.assert_array_equal(o, [wide, wide << 3, wide << 1])
