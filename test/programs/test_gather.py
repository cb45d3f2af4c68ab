"""Rows that a table names: read and updated by vectors along the row."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ROWS, COLUMNS, PICKED = 40, 64, 16


def table(seed: int) -> np.ndarray:
    """Row numbers, some of them twice."""
    return np.random.default_rng(seed).integers(0, ROWS, PICKED).astype(np.int32)


def numbers(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("device", ["cpu", "vgpu:sm_80", "vgpu:sm_90"])
def test_gather(device: str, dtype: str) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((ROWS, COLUMNS), dtype),
        Rows: T.Tensor((PICKED,), "int32"),
        B: T.Tensor((PICKED, COLUMNS), dtype),
    ):
        with T.Kernel(1, threads=64):
            picked = T.alloc_shared((PICKED, COLUMNS), dtype)
            for i, j in T.Parallel(PICKED, COLUMNS):
                picked[i, j] = A[Rows[i], j]
            T.copy(picked, B)

    kernel = tilewright.compile(main, device=device)
    a, rows = numbers(ROWS, COLUMNS, dtype=np.dtype(dtype)), table(1)
    b = np.zeros((PICKED, COLUMNS), dtype)
    kernel(a, rows, b)
    np.testing.assert_array_equal(b, a[rows])
    if device != "cpu":
        assert not kernel.findings
        assert re.search(r"ld\.global(\.nc)?\.v4", kernel.ptx)


@pytest.mark.parametrize("statement", ["x4", "branch", "two x2"])
@pytest.mark.parametrize("device", ["cpu", "vgpu:sm_80", "vgpu:sm_90"])
def test_scatter(device: str, statement: str) -> None:
    """`T.atomic_addx4` inside `T.Parallel`: one wide update on sm_90, where the rows allow it."""

    @T.prim_func
    def main(
        X: T.Tensor((PICKED, COLUMNS), "float32"),
        Rows: T.Tensor((PICKED,), "int32"),
        C: T.Tensor((ROWS, COLUMNS), "float32"),
    ):
        with T.Kernel(2, threads=64):
            x = T.alloc_shared((PICKED, COLUMNS), "float32")
            T.copy(X, x)
            for i, j in T.Parallel(PICKED, COLUMNS // 4):
                if statement == "x4":
                    T.atomic_addx4(C[Rows[i], j * 4], x[i, j * 4])
                elif statement == "branch":
                    if i > 2:
                        T.atomic_addx4(C[Rows[i], j * 4], x[i, j * 4])
                else:
                    T.atomic_addx2(C[Rows[i], j * 4], x[i, j * 4])
                    T.atomic_addx2(C[Rows[i], j * 4 + 2], x[i, j * 4 + 2])

    kernel = tilewright.compile(main, device=device)
    x, rows, c = numbers(PICKED, COLUMNS), table(2), np.zeros((ROWS, COLUMNS), np.float32)
    kernel(x, rows, c)
    expected = np.zeros_like(c)
    first = 3 if statement == "branch" else 0
    np.add.at(expected, rows[first:], 2 * x[first:])  # by two blocks
    np.testing.assert_array_equal(c, expected)
    if device != "cpu":
        assert not kernel.findings
    if device == "vgpu:sm_90" and statement != "two x2":
        assert "red.global.add.v4.f32" in kernel.ptx


def test_table_that_the_loop_writes() -> None:
    """A number that an iteration changes before it uses it is its own: nothing is shared."""

    @T.prim_func
    def main(
        A: T.Tensor((ROWS, 4), "float32"),
        Rows: T.Tensor((32, 4), "int32"),
        B: T.Tensor((32, 4), "float32"),
    ):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(32, 4):
                Rows[i, j] = Rows[i, j] + j
                B[i, j] = A[Rows[i, j], j]

    for device in ("cpu", "vgpu:sm_80"):
        kernel = tilewright.compile(main, device=device)
        a = numbers(ROWS, 4)
        rows = np.random.default_rng(3).integers(0, ROWS - 4, (32, 4)).astype(np.int32)
        moved = rows + np.arange(4, dtype=np.int32)
        b = np.zeros((32, 4), np.float32)
        kernel(a, rows, b)
        np.testing.assert_array_equal(rows, moved)
        np.testing.assert_array_equal(b, np.take_along_axis(a, moved, 0))
