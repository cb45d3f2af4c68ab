"""Kernels on which engines were wrong (docs/internals/bugs-found.md), compared with numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("sign", ["+", "-", "*"])
def test_bfloat16_that_is_widened_and_stored_as_float16(device: str, wide: str, sign: str) -> None:
    """LLVM computed in float16, where operands beyond 65504 are infinite."""

    @T.prim_func
    def main(
        A: T.Tensor((16,), "bfloat16"),
        B: T.Tensor((16,), "bfloat16"),
        C: T.Tensor((16,), "float16"),
    ):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(16):
                x = T.cast(A[i], wide)
                y = T.cast(B[i], wide)
                if sign == "+":
                    C[i] = x + y
                elif sign == "-":
                    C[i] = x - y
                else:
                    C[i] = x * y

    a = np.array([1e30, 1e10, 70000, 3, 1e38, 1e-30, 2, 1e-40, -1e30, *range(7)])
    b = np.array([1e30, 1e10, 70000, 3, 1e38, 1e30, 1e-30, 1e38, 1e30, *range(7)])
    a, b = (values.astype(ml_dtypes.bfloat16) for values in (a, b))
    c = np.ones(16, np.float16)
    x, y = a.astype(wide), b.astype(wide)
    with np.errstate(over="ignore", under="ignore"):
        expected = {"+": x + y, "-": x - y, "*": x * y}[sign].astype(np.float16)
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, expected)


@ON_ALL
@pytest.mark.parametrize(
    ("source", "result"),
    [("int32", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint32", "int32"),
     ("int64", "int16"), ("float32", "float16")],
)  # fmt: skip
def test_running_maxima_of_the_sources_dtype(device: str, source: str, result: str) -> None:
    """`T.cummax` took the maxima of values that had been converted already."""

    @T.prim_func
    def main(A: T.Tensor((4, 20), source), B: T.Tensor((4, 20), result)):
        with T.Kernel(1, threads=32):
            a = T.alloc_shared((4, 20), source)
            b = T.alloc_shared((4, 20), result)
            T.copy(A, a)
            T.cummax(a, b, dim=1)
            T.copy(b, B)

    rng = np.random.default_rng(5)
    a = rng.integers(0, 256, (4, 20 * np.dtype(source).itemsize), "u1").view(source)
    if source == "float32":
        a = rng.standard_normal((4, 20)).astype(source)
    b = np.zeros((4, 20), result)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, np.maximum.accumulate(a, axis=1).astype(result))


@ON_ALL
def test_numbers_of_a_thread_that_a_loop_computes_from_themselves(device: str) -> None:
    """A binary search: the ranges of `low` and `high` were searched for without end."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "int32"), Q: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            low = 0
            high = n
            while low < high:
                middle = (low + high) // 2
                if A[middle] < Q[tx]:
                    low = middle + 1
                else:
                    high = middle
            B[tx] = low

    a = np.sort(np.random.default_rng(3).integers(0, 100, 33)).astype(np.int32)
    q = np.arange(-4, 124, 2).astype(np.int32)
    b = np.zeros(64, np.int32)
    run(main, device, a, q, b)
    np.testing.assert_array_equal(b, np.searchsorted(a, q))
