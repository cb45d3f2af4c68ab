"""Two narrow floats in one instruction give the bits that each would have alone."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

COUNT = 64  # the corners, all pairs of them
#: Of each operation, what PTX must have on sm_80 and on sm_90.
OPERATIONS = {
    "add": (lambda a, b: a + b, r"(add\.rn|fma\.rn)\.b?f16x2"),
    "sub": (lambda a, b: a - b, r"(sub\.rn|fma\.rn)\.b?f16x2"),
    "mul": (lambda a, b: a * b, r"(mul\.rn|fma\.rn)\.b?f16x2"),
    "neg": (lambda a, b: -a, r"neg\.b?f16x2|xor\.b32"),
    "max": (lambda a, b: T.max(a, b), r"max\.b?f16x2"),
    "min": (lambda a, b: T.min(a, b), r"min\.b?f16x2"),
    "mixed": (lambda a, b: T.max(a * b + b, a) - a * a, r"max\.b?f16x2"),
}


def element_wise(operation, dtype: str):
    @T.prim_func
    def main(A: T.Tensor((COUNT, COUNT), dtype), B: T.Tensor((COUNT, COUNT), dtype)):
        with T.Kernel(1, threads=128):
            a = T.alloc_fragment((COUNT, COUNT), dtype)
            b = T.alloc_fragment((COUNT, COUNT), dtype)
            T.copy(A, a)
            T.copy(B, b)
            for i, j in T.Parallel(COUNT, COUNT):
                a[i, j] = operation(a[i, j], b[i, j])
            T.copy(a, A)

    return main


def corners(dtype: str) -> np.ndarray:
    """Zeros, subnormals, halves of the last place, the largest, infinities, NaN, and others."""
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    info = ml_dtypes.finfo(kind)
    small = [0, info.smallest_subnormal, info.smallest_normal, info.eps, 1, 1 + info.eps]
    large = [info.max, info.max / 2, np.inf, np.nan, 3, 0.1]
    known = [float(sign * value) for value in small + large for sign in (1, -1)]
    drawn = np.random.default_rng(1).standard_normal(COUNT - len(known)) * 10
    return np.array(known + list(drawn)).astype(kind)


def assert_same_bits(got: np.ndarray, expected: np.ndarray) -> None:
    bits = f"uint{8 * got.itemsize}"
    is_nan = np.isnan(expected.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), is_nan)
    np.testing.assert_array_equal(got.view(bits)[~is_nan], expected.view(bits)[~is_nan])


@pytest.mark.parametrize("name", list(OPERATIONS))
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_pairs_keep_their_bits(arch: str, dtype: str, name: str) -> None:
    operation, instruction = OPERATIONS[name]
    function = element_wise(operation, dtype)
    values = corners(dtype)
    a, b = (np.ascontiguousarray(x) for x in np.meshgrid(values, values))
    expected, got = a.copy(), a.copy()
    tilewright.compile(function, target="interp")(expected, b)
    kernel = tilewright.compile(function, target=arch)
    kernel(got, b)
    assert_same_bits(got, expected)
    assert re.search(instruction, kernel.ptx)


def rounded(dtype: str, odd: bool):
    columns = 63 if odd else 64

    @T.prim_func
    def main(A: T.Tensor((64, columns), "float32"), B: T.Tensor((64, columns), dtype)):
        with T.Kernel(1, threads=64):
            a = T.alloc_fragment((64, columns), "float32")
            T.copy(A, a)
            for i, j in T.Parallel(64, columns):
                B[i, j] = T.cast(a[i, j] * 3, dtype)

    return main


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_pairs_are_rounded_alike(arch: str, dtype: str, odd: bool) -> None:
    kernel = tilewright.compile(rounded(dtype, odd), target=arch)
    bits = np.random.default_rng(2).integers(0, 1 << 32, (64, 63 if odd else 64))
    a = bits.astype(np.uint32).view(np.float32)
    got = np.zeros(a.shape, getattr(ml_dtypes, dtype, dtype))
    expected = got.copy()
    tilewright.compile(rounded(dtype, odd), target="interp")(a, expected)
    kernel(a, got)
    assert_same_bits(got, expected)
    assert re.search(r"cvt\.rn\.b?f16x2\.f32", kernel.ptx)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_fast_math_contracts_pairs(arch: str) -> None:
    function = element_wise(lambda a, b: a * b + b, "float16")
    configs = {"tl.enable_fast_math": True}
    kernel = tilewright.compile(function, target=arch, pass_configs=configs)
    assert "fma.rn.f16x2" in kernel.ptx
    precise = tilewright.compile(function, target=arch)
    assert "fma.rn.f16x2" not in precise.ptx
