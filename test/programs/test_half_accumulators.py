"""A gemm may round parts of its sums to a float16 accumulator; the interpreter's radii cover it."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def product(depth: int):
    @T.prim_func
    def main(
        A: T.Tensor((32, depth), "float16"),
        B: T.Tensor((depth, 32), "float16"),
        C: T.Tensor((32, 32), "float16"),
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((32, depth), "float16")
            b = T.alloc_shared((depth, 32), "float16")
            c = T.alloc_fragment((32, 32), "float16")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, clear_accum=True)
            T.copy(c, C)

    return main


def alternating(depth: int) -> np.ndarray:
    """Whose sum is small and whose parts overflow."""
    return np.where(np.arange(depth) % 32 < 16, 100.0, -100.0)


@pytest.mark.parametrize("depth", [16, 64, 256])
@pytest.mark.parametrize("scale", ["everyday", "subnormal", "overflowing"])
def test_engines_agree_within_the_radius(depth: int, scale: str) -> None:
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((32, depth)), rng.standard_normal((depth, 32))
    if scale == "subnormal":
        a, b = a * 2.0**-9, b * 2.0**-9
    if scale == "overflowing":
        a, b = np.tile(alternating(depth), (32, 1)), np.full((depth, 32), 100.0)
    arguments = [a.astype(np.float16), b.astype(np.float16), np.zeros((32, 32), np.float16)]
    kernel = tilewright.compile(product(depth), target="sm_80")
    result = kernel.verify(*arguments)
    assert result, str(result)
    if scale != "overflowing":
        assert result.undecided == 0


def test_a_sum_of_finite_terms_that_overflows_is_undecided() -> None:
    """It may or may not, with other roundings of its parts."""
    a, b = np.full((32, 16), 64.5, np.float16), np.full((16, 32), 63.5, np.float16)
    kernel = tilewright.compile(product(16), target="sm_80")
    result = kernel.verify(a, b, np.zeros((32, 32), np.float16))
    assert result.undecided == 32 * 32
