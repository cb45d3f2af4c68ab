"""float8, tfloat32 and the rounding modes of `T.cast` on GPUs and the CPU, against the interpreter.

sm_80 converts by integer arithmetic, sm_90 by instructions; all must give the interpreter's bits
for every pattern of the narrow formats, and around every number and tie of the wider ones.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

ARCHS = ("vgpu:sm_80", "vgpu:sm_90")
FLOAT8 = {"float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2}
NUMPY = {
    **FLOAT8,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "tfloat32": np.float32,
    "float32": np.float32,
    "float64": np.float64,
    "int32": np.int32,
    "int64": np.int64,
    "uint64": np.uint64,
}


def convert(device: str, source: str, target: str, values: np.ndarray, cast: Callable):
    """`values` converted element by element on a device."""
    count = len(values)

    @T.prim_func
    def main(A: T.Tensor((count,), source), B: T.Tensor((count,), target)):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(count):
                B[i] = cast(A[i])

    result = np.zeros(count, NUMPY[target])
    tilewright.compile(main, device=device)(values, result)
    return result


def bits_of(array: np.ndarray) -> np.ndarray:
    """The bit patterns, with one pattern for all NaNs."""
    bits = array.view(f"u{array.dtype.itemsize}").copy()
    if array.dtype.kind not in "iu":
        with np.errstate(invalid="ignore"):  # of signalling NaNs
            bits[np.isnan(array.astype(np.float64))] = 0xFF
    return bits


def assert_same(source: str, target: str, values: np.ndarray, cast: Callable) -> None:
    """Both architectures and the CPU give the interpreter's bits."""
    want = bits_of(convert("interp", source, target, values, cast))
    for device in (*ARCHS, "cpu"):
        got = bits_of(convert(device, source, target, values, cast))
        wrong = np.flatnonzero(got != want)
        seen = [(values[i], hex(got[i]), hex(want[i])) for i in wrong[:5]]
        assert not seen, f"{device}: (value, got, expected) {seen}"


def near_numbers_of(target: str, source: str) -> np.ndarray:
    """Every number of a narrow format, every tie between two, and their neighbours in `source`."""
    number = NUMPY[source]
    rng = np.random.default_rng(1)
    width = 19 if target == "tfloat32" else 8 * np.dtype(NUMPY[target]).itemsize
    patterns = np.arange(256) if width == 8 else rng.integers(0, 2**width, 2000)
    patterns = patterns << 13 if target == "tfloat32" else patterns
    storage = np.dtype(NUMPY[target])
    with np.errstate(all="ignore"):
        points = patterns.astype(f"u{storage.itemsize}").view(storage).astype(np.float64)
        points = np.sort(points[np.isfinite(points)])
        ties = (points[1:] + points[:-1]) / 2
        centres = np.concatenate([points, ties]).astype(number)
        around = [centres, np.nextafter(centres, number(np.inf)),
                  np.nextafter(centres, number(-np.inf))]  # fmt: skip
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 448, 464, 465, 57344, 61440,
                        65504, 65520, 1e-30], number)  # fmt: skip
    return np.concatenate([*around, special])


@pytest.mark.parametrize("target", ["float16", "bfloat16", "float32", "float64", "int32"])
@pytest.mark.parametrize("source", FLOAT8)
def test_every_float8_as_another_type(source: str, target: str) -> None:
    values = np.arange(256, dtype=np.uint8).view(FLOAT8[source])
    assert_same(source, target, values, lambda x: T.cast(x, target))


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", [*FLOAT8, "tfloat32"])
def test_rounding_to_storage_types(target: str, source: str) -> None:
    assert_same(source, target, near_numbers_of(target, source), lambda x: T.cast(x, target))


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
@pytest.mark.parametrize("target", FLOAT8)
def test_every_narrow_float_to_float8(target: str, source: str) -> None:
    values = np.arange(2**16, dtype=np.uint16).view(NUMPY[source])
    assert_same(source, target, values, lambda x: T.cast(x, target))


@pytest.mark.parametrize("source", ["int32", "int64", "uint64"])
@pytest.mark.parametrize("target", [*FLOAT8, "tfloat32"])
def test_integers_to_storage_types(target: str, source: str) -> None:
    limits = np.iinfo(NUMPY[source])
    rng = np.random.default_rng(5)
    number = NUMPY[source]
    edges = [limits.min, limits.max, 2049, 2051, 1 << 30, *range(600)]
    values = np.array(edges, number)
    values = np.concatenate([values, rng.integers(limits.min, limits.max, 400, dtype=number)])
    assert_same(source, target, values, lambda x: T.cast(x, target))


def test_large_integers_round_once() -> None:
    """Next to a tie of two bfloat16: rounded to float64 first, they would lie on it."""
    values = np.array([2**60 + 2**52 + 1, 2**60 + 3 * 2**52 - 1, -(2**60) - 2**52 - 1], np.int64)
    assert_same("int64", "bfloat16", values, lambda x: T.cast(x, "bfloat16"))


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(
    ("source", "target"),
    [("float32", "float16"), ("float32", "bfloat16"), ("float64", "float32"),
     ("float32", "float8_e4m3fn"), ("float32", "tfloat32"), ("float64", "float16")],
)  # fmt: skip
def test_rounding_modes(source: str, target: str, mode: str, saturate: bool) -> None:
    values = near_numbers_of(target, source)
    assert_same(source, target, values, lambda x: T.cast(x, target, round=mode, sat=saturate))


def multiply(device: str, dtype: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A product of 16 x 32 and 32 x 16."""

    @T.prim_func
    def main(
        A: T.Tensor((16, 32), dtype), B: T.Tensor((32, 16), dtype), C: T.Tensor((16, 16), "float32")
    ):
        with T.Kernel(1, threads=32):
            a = T.alloc_shared((16, 32), dtype)
            b = T.alloc_shared((32, 16), dtype)
            c = T.alloc_fragment((16, 16), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C)

    c = np.zeros((16, 16), np.float32)
    tilewright.compile(main, device=device)(a, b, c)
    return c


@pytest.mark.parametrize("device", ARCHS)
@pytest.mark.parametrize("dtype", [*FLOAT8, "tfloat32"])
def test_gemm_reads_storage_types(dtype: str, device: str) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(NUMPY[dtype]) for shape in ((16, 32), (32, 16)))
    c = multiply(device, dtype, a, b)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("device", ARCHS)
def test_gemm_rounds_tfloat32_that_memory_holds_with_more_digits(device: str) -> None:
    """mma would cut the digits off; the language rounds them, ties away from zero."""
    rng = np.random.default_rng(0)
    a = (rng.integers(1, 8, (16, 32)) * (1 + 2.0**-11)).astype(np.float32)
    b = rng.integers(-4, 5, (32, 16)).astype(np.float32)
    got = multiply(device, "tfloat32", a, b)
    np.testing.assert_array_equal(got, multiply("interp", "tfloat32", a, b))
    assert not np.array_equal(got, np.floor(a) @ b)


@pytest.mark.parametrize("dtype", FLOAT8)
def test_storage_types_in_tiles_selects_and_reductions(dtype: str) -> None:
    def run(device: str) -> np.ndarray:
        @T.prim_func
        def main(A: T.Tensor((16, 16), dtype), B: T.Tensor((16, 16), dtype),
                 M: T.Tensor((16,), dtype)):  # fmt: skip
            with T.Kernel(1, threads=32):
                tile = T.alloc_fragment((16, 16), dtype)
                top = T.alloc_fragment((16,), dtype)
                T.copy(A, tile)
                for i, j in T.Parallel(16, 16):
                    tile[i, j] = T.if_then_else(i > j, tile[i, j], T.cast(2.5, dtype))
                T.reduce_max(tile, top, dim=1)
                T.copy(tile, B)
                T.copy(top, M)

        values = np.arange(256, dtype=np.uint8).view(FLOAT8[dtype]).astype(np.float32)
        values = np.nan_to_num(values, posinf=1, neginf=1).astype(FLOAT8[dtype]).reshape(16, 16)
        b, m = np.zeros((16, 16), FLOAT8[dtype]), np.zeros(16, FLOAT8[dtype])
        tilewright.compile(main, device=device)(values, b, m)
        return np.concatenate([b.ravel(), m]).view(np.uint8)

    expected = run("interp")
    for device in ARCHS:
        np.testing.assert_array_equal(run(device), expected)


def test_sm_90_converts_float8_by_instructions() -> None:
    @T.prim_func
    def main(A: T.Tensor((32,), "float8_e4m3fn"), B: T.Tensor((32,), "float8_e5m2")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                B[i] = T.cast(T.cast(A[i], "float32") * 2.0, "float8_e5m2")

    kernel = tilewright.compile(main, device="interp")
    assert "cvt.rn.f16x2.e4m3x2" in kernel.ir("ptx", "sm_90")
    assert "cvt.rn.satfinite.e5m2x2.f32" in kernel.ir("ptx", "sm_90")
    assert "e4m3x2" not in kernel.ir("ptx", "sm_80")
