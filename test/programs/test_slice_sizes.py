"""Slices whose ends are read from memory have the extents that a reader sees."""

from __future__ import annotations

import numpy as np
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_ends_are_read_from_a_tile(device: str) -> None:
    """Both ends read the same element; the statement is the block's, then one thread's."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 16), "float32"),
        R: T.Tensor((4,), "int32"),
        B: T.Tensor((4, 8, 16), "float32"),
        C: T.Tensor((4, 8, 16), "float32"),
    ):
        with T.Kernel(4, threads=64) as bx:
            rows = T.alloc_local((1,), "int32")
            tile = T.alloc_shared((8, 16), "float32")
            tx = T.get_thread_binding()
            rows[0] = R[bx] * 2
            T.copy(A[R[bx] * 2 : R[bx] * 2 + 8, 0:16], tile)
            T.copy(tile, B[bx, :, :])
            if tx == 0:
                T.copy(A[rows[0] : rows[0] + 8, 0:16], C[bx, 0:8, 0:16])

    a = np.arange(64 * 16, dtype=np.float32).reshape(64, 16)
    r = np.array([0, 13, 5, 28], np.int32)
    b, c = np.zeros((2, 4, 8, 16), np.float32)
    run(main, device, a, r, b, c)
    expected = np.stack([a[2 * row : 2 * row + 8] for row in r])
    np.testing.assert_array_equal(b, expected)
    np.testing.assert_array_equal(c, expected)


def test_extents_are_numbers_where_the_reads_are_the_same() -> None:
    """A name keeps the value from before a store: the extent is a number no more."""
    shapes = []

    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), R: T.Tensor((2,), "int32"), n: T.int32):
        with T.Kernel(1, threads=32):
            shapes.append(A[R[0] + n : n + R[0] + 8].shape)
            shapes.append(A[R[0] : R[1] + 8].shape)
            first = R[0]
            shapes.append(A[first * 2 : (R[0] + 4) * 2].shape)
            R[0] = 3
            shapes.append(A[first : R[0] + 8].shape)
            A[0] = 1.0

    are_numbers = [isinstance(extent, int) for (extent,) in shapes]
    assert are_numbers == [True, False, True, False]
    assert (shapes[0], shapes[2]) == ((8,), (8,))
