"""Tiles seen through another element type: the row-major bytes, whatever the layout in memory."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ROWS, COLUMNS = 8, 64  # of bytes
TYPES = ["uint8", "uint16", "uint32", "float16", "float32"]


def rewrite(own: str, seen: str, swizzled: bool):
    """Copies through a view of a tile: read as `seen`, written back as `seen` in reverse order."""
    width, other = np.dtype(own).itemsize, np.dtype(seen).itemsize
    shape, view_shape = (ROWS, COLUMNS // width), (ROWS, COLUMNS // other)

    @T.prim_func
    def main(A: T.Tensor(shape, own), B: T.Tensor(view_shape, seen), C: T.Tensor(shape, own)):
        with T.Kernel(1, threads=32):
            tile = T.alloc_shared(shape, own)
            out = T.alloc_shared(shape, own)
            if swizzled:
                layout = tilewright.layout.make_swizzled_layout
                T.annotate_layout({tile: layout(tile), out: layout(out)})
            seen_tile = T.view(tile, view_shape, seen)
            seen_out = T.view(out, view_shape, seen)
            T.copy(A, tile)
            for i, j in T.Parallel(ROWS, COLUMNS // other):
                B[i, j] = seen_tile[i, j]
            for i, j in T.Parallel(ROWS, COLUMNS // other):
                seen_out[i, j] = seen_tile[ROWS - 1 - i, j]
            T.copy(out, C)

    return main


@pytest.mark.parametrize("swizzled", [False, True])
@pytest.mark.parametrize("seen", TYPES)
@pytest.mark.parametrize("own", TYPES)
@pytest.mark.parametrize("target", ["sm_80", "cpu"])
def test_bytes_stay(target: str, own: str, seen: str, swizzled: bool) -> None:
    kernel = tilewright.compile(rewrite(own, seen, swizzled), target=target)
    rng = np.random.default_rng(5)
    # Small exponents: no bit pattern is a NaN whose payload a copy might change.
    data = (rng.integers(0, 256, ROWS * COLUMNS) & 0x3B).astype(np.uint8)
    a = data.view(own).reshape(ROWS, -1).copy()
    b = np.zeros((ROWS, COLUMNS // np.dtype(seen).itemsize), seen)
    c = np.zeros_like(a)
    kernel(a, b, c)
    np.testing.assert_array_equal(b.view(np.uint8), a.view(np.uint8))
    np.testing.assert_array_equal(c.view(np.uint8), a.view(np.uint8)[::-1])
    assert not kernel.findings


@pytest.mark.parametrize("engine", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90"])
@pytest.mark.parametrize("seen", ["int32", "int16"])
def test_a_view_of_a_tensor_has_bounds_of_its_own(engine: str, seen: str) -> None:
    """Beyond a row of the view there is nothing, although the tensor has an element at the same
    number. (GPU code read it.)"""
    columns = 16 * 4 // np.dtype(seen).itemsize

    @T.prim_func
    def main(A: T.Tensor((8, 8), "int32"), B: T.Tensor((4, columns + 6), seen)):
        with T.Kernel(1, threads=32):
            V = T.view(A, (4, columns), seen)
            for i, j in T.Parallel(4, columns + 6):
                B[i, j] = V[i, j - 2]

    a = np.arange(1, 65, dtype=np.int32).reshape(8, 8) * 70001
    b = np.full((4, columns + 6), 7, seen)
    kernel = tilewright.compile(main, device=engine)
    kernel(a, b)
    expected = np.zeros_like(b)
    expected[:, 2 : 2 + columns] = a.view(seen).reshape(4, columns)
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("engine", ["interp", "cpu", "vgpu:sm_80"])
def test_every_byte_but_0_is_true(engine: str) -> None:
    """Bytes that are seen as bools are 0 or not 0, in copies, loops, operators and sums. Which byte
    a copy leaves for True is not said."""

    @T.prim_func
    def main(A: T.Tensor((8, 8), "uint8"), B: T.Tensor((8, 8), "bool"), C: T.Tensor((8,), "int32"),
             D: T.Tensor((8, 8), "int32")):  # fmt: skip
        with T.Kernel(1, threads=32):
            seen = T.view(A, (8, 8), "bool")
            tile = T.alloc_shared((8, 8), "bool")
            count = T.alloc_fragment((8,), "int32")
            T.copy(seen, tile)
            T.copy(tile, B)
            T.reduce_sum(tile, count, dim=1)
            T.copy(count, C)
            for i, j in T.Parallel(8, 8):
                both = T.cast(tile[i, j] & seen[7 - i, j], "int32")
                D[i, j] = both + 10 * T.cast(seen[i, j] == (j < 4), "int32")

    a = np.random.default_rng(3).choice(np.array([0, 1, 2, 128, 255], np.uint8), (8, 8))
    b, c, d = np.zeros((8, 8), bool), np.zeros(8, np.int32), np.zeros((8, 8), np.int32)
    tilewright.compile(main, device=engine)(a, b, c, d)
    true = a != 0
    np.testing.assert_array_equal(b.view(np.uint8) != 0, true)
    np.testing.assert_array_equal(c, true.sum(1))
    np.testing.assert_array_equal(d, (true & true[::-1]) + 10 * (true == (np.arange(8) < 4)))
