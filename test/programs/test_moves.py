"""Statements that read and write parts of one buffer: all is read before anything is written."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ENGINES = ("interp", "cpu", "vgpu:sm_80", "vgpu:sm_90")


def shifted(a: np.ndarray) -> np.ndarray:
    result = a.copy()
    result[1:] = a[:-1]
    return result


@pytest.fixture
def matrix() -> np.ndarray:
    return np.arange(64 * 64, dtype=np.float32).reshape(64, 64)


@pytest.mark.parametrize("engine", ENGINES)
def test_copy_of_rows_of_a_tensor_onto_the_next_ones(engine: str, matrix: np.ndarray) -> None:
    """GPU code read and wrote without order."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            T.copy(A[0:63, 0:64], A[1:64, 0:64])

    expected = shifted(matrix)
    kernel = tilewright.compile(main, device=engine)
    kernel(matrix)
    np.testing.assert_array_equal(matrix, expected)
    assert kernel.findings == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", ["shared", "fragment"])
def test_copy_of_rows_of_a_tile_onto_the_next_ones(
    engine: str, space: str, matrix: np.ndarray
) -> None:
    allocate = T.alloc_shared if space == "shared" else T.alloc_fragment

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            tile = allocate((64, 64), "float32")
            T.copy(A, tile)
            T.copy(tile[0:63, 0:64], tile[1:64, 0:64])
            T.copy(tile, A)

    expected = shifted(matrix)
    kernel = tilewright.compile(main, device=engine)
    kernel(matrix)
    np.testing.assert_array_equal(matrix, expected)
    assert kernel.findings == []


def test_parts_that_lie_apart_are_moved_directly(matrix: np.ndarray) -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            T.copy(A[0:32, 0:64], A[32:64, 0:64])

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    assert "moved" not in kernel.ir("tile-expand-statements")
    kernel(matrix)
    np.testing.assert_array_equal(matrix[32:], matrix[:32])


def test_run_time_extents_are_refused_on_the_gpu() -> None:
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            T.copy(A[0 : n - 1], A[1:n])

    with pytest.raises(tilewright.TilewrightError, match="reads and writes parts of 'A'"):
        tilewright.compile(main, device="vgpu:sm_80")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", ["shared", "fragment"])
def test_copy_of_rows_that_end_at_the_edge_and_are_shorter_than_the_tile(
    engine: str, space: str
) -> None:
    """A tile padded to what a gemm takes: what lies beyond the edge reads as 0, and is dropped."""
    allocate = T.alloc_shared if space == "shared" else T.alloc_fragment

    @T.prim_func
    def main(
        A: T.Tensor((4, 3, 40), "float32"),
        B: T.Tensor((4, 48), "float32"),
        C: T.Tensor((4, 3, 40), "float32"),
    ):
        with T.Kernel(3, threads=64) as bx:
            tile = allocate((4, 48), "float32")
            row = allocate((48,), "float32")
            T.copy(A[0:4, bx, :], tile)
            if bx == 1:
                T.copy(tile, B)
            T.copy(tile, C[:, bx, 0:40])
            T.copy(A[3, bx, 8:40], row)
            T.copy(row, C[3, bx, :])

    a = np.random.default_rng(1).random((4, 3, 40), np.float32)
    b, c = np.ones((4, 48), np.float32), np.zeros_like(a)
    kernel = tilewright.compile(main, device=engine)
    kernel(a, b, c)
    assert all(finding["severity"] == "note" for finding in kernel.findings)
    np.testing.assert_array_equal(b, np.pad(a[:, 1], ((0, 0), (0, 8))))
    expected = a.copy()
    expected[3] = np.pad(a[3, :, 8:40], ((0, 0), (0, 8)))
    np.testing.assert_array_equal(c, expected)


def test_copy_of_rows_that_end_before_the_edge_is_an_error() -> None:
    """What lies between the end of the slice and the edge is not what was named."""
    with pytest.raises(tilewright.TilewrightError, match="expected equal extents, got 'A'"):

        @T.prim_func
        def main(A: T.Tensor((3, 40), "float32")):
            with T.Kernel(3, threads=64) as bx:
                row = T.alloc_shared((48,), "float32")
                T.copy(A[bx, 0:39], row)
