"""Tensors whose rows lie apart in memory, and tensors that a kernel does not use."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

rows, stride = T.dynamic("rows"), T.dynamic("stride")


@T.prim_func
def scale_rows(
    A: T.StridedTensor[(rows, 24), (stride, 1), T.float32],
    B: T.StridedTensor((rows, 24), (T.dynamic("other"), 1), "float32"),
    S: T.Tensor((1,), "int64"),
):
    with T.Kernel(T.ceildiv(rows, 8), threads=32) as bx:
        for i, j in T.Parallel(8, 24):
            B[bx * 8 + i, j] = A[bx * 8 + i, j] * 2.0
        if bx == 0:
            S[0] = stride  # known from a stride alone


def padded(count: int, width: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((count, width)).astype(np.float32)


@ON_ALL
def test_rows_that_lie_apart(device: str) -> None:
    """What lies between the rows is not touched."""
    wide, result, seen = padded(16, 40), padded(16, 32), np.zeros(1, np.int64)
    before = result.copy()
    run(scale_rows, device, wide[:, 3:27], result[:, :24], seen)
    np.testing.assert_array_equal(result[:, :24], wide[:, 3:27] * 2)
    np.testing.assert_array_equal(result[:, 24:], before[:, 24:])
    assert seen[0] == 40


@ON_ALL
def test_dense_rows(device: str) -> None:
    dense, result, seen = padded(8, 24), padded(8, 24), np.zeros(1, np.int64)
    run(scale_rows, device, dense, result, seen)
    np.testing.assert_array_equal(result, dense * 2)
    assert seen[0] == 24


def test_columns_of_one_array() -> None:
    """Two tensors may interleave; they may not share elements if one is written."""
    kernel = tilewright.compile(scale_rows, device="cpu")
    both = padded(8, 48)
    before = both.copy()
    kernel(both[:, :24], both[:, 24:], np.zeros(1, np.int64))
    np.testing.assert_array_equal(both[:, 24:], before[:, :24] * 2)
    with pytest.raises(tilewright.TilewrightError, match="'B': shares memory with 'A'"):
        kernel(both[:, :24], both[:, 20:44], np.zeros(1, np.int64))


def test_columns_are_not_rows() -> None:
    kernel = tilewright.compile(scale_rows, device="cpu")
    turned = np.asfortranarray(padded(8, 24))
    with pytest.raises(tilewright.TilewrightError, match="'A': stride 1: expected 1, got 8"):
        kernel(turned, padded(8, 24), np.zeros(1, np.int64))


def test_read_only_rows_that_are_written() -> None:
    kernel = tilewright.compile(scale_rows, device="cpu")
    result = padded(8, 32)[:, :24]
    result.flags.writeable = False
    with pytest.raises(tilewright.TilewrightError, match="'B': the kernel writes it"):
        kernel(padded(8, 24), result, np.zeros(1, np.int64))


def maker(has_bias: bool):
    n, m = T.dynamic("n"), T.dynamic("m")

    @T.prim_func
    def main(
        A: T.Tensor((n,), "float32"),
        bias: T.Tensor((m,), "float32"),
        B: T.Tensor((n,), "float32"),
    ):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                if has_bias:
                    B[bx * 32 + i] = A[bx * 32 + i] + bias[0]
                else:
                    B[bx * 32 + i] = A[bx * 32 + i] + 1.0

    return main


@ON_ALL
@pytest.mark.parametrize("bias", [None, np.zeros((2, 3), np.int8)])
def test_unused_tensor_is_not_checked(device: str, bias: np.ndarray | None) -> None:
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(maker(False), device, a, bias, b)
    np.testing.assert_array_equal(b, a + 1)


def test_used_tensor_must_be_given() -> None:
    kernel = tilewright.compile(maker(True), device="cpu")
    a = np.arange(50, dtype=np.float32)
    with pytest.raises(tilewright.TilewrightError, match="'bias': the kernel uses it, .* got None"):
        kernel(a, None, a.copy())
