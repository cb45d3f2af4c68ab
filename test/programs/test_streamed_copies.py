"""Copies between tiles and tensors larger than the caches: the CPU reads ahead and writes past the
caches. Every element arrives, wherever the tensor starts."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

BYTES = 1 << 25  # from this size on a tensor is streamed


@pytest.mark.parametrize("offset", [0, 1, 5])
@pytest.mark.parametrize(
    ("dtype", "columns"), [("float32", 1027), ("int8", 4099), ("float64", 128)]
)
def test_rows_of_any_length_and_alignment(dtype: str, columns: int, offset: int) -> None:
    size = np.dtype(dtype).itemsize
    rows = -(-BYTES // (8 * columns * size)) * 8

    @T.prim_func
    def main(A: T.Tensor((rows, columns), dtype), B: T.Tensor((rows, columns), dtype)):
        with T.Kernel(rows // 8, threads=128) as block:
            tile = T.alloc_shared((8, columns), dtype)
            T.copy(A[block * 8, 0], tile)
            T.copy(tile, B[block * 8, 0])

    kernel = tilewright.compile(main, target="cpu")
    assert "movnt" in kernel.program.compile_cpu()["asm"], "the copy is not one that is streamed"
    values = np.random.default_rng(0).integers(-100, 100, rows * columns + 16).astype(dtype)
    a = values[offset : offset + rows * columns].reshape(rows, columns)
    memory = np.zeros(rows * columns + 16, dtype)
    b = memory[3 : 3 + rows * columns].reshape(rows, columns)
    kernel(a, b)
    assert np.array_equal(a, b)
    assert not memory[:3].any() and not memory[3 + rows * columns :].any(), "wrote outside"


@pytest.mark.parametrize(
    ("columns", "tile_columns", "is_read_ahead"),
    [
        (67, 67, True),  # one stretch of memory, with a rest behind its lines
        (2 * 1027, 1027, True),  # larger than what is prefetched a turn before
        (2 * 67, 67, False),
        (15, 15, False),  # rows of less than a few lines
    ],
)
def test_tiles_of_small_tensors_are_read_ahead(
    columns: int, tile_columns: int, is_read_ahead: bool
) -> None:
    rows = 64

    @T.prim_func
    def main(A: T.Tensor((rows, columns), "float32"), B: T.Tensor((rows, columns), "float32")):
        with T.Kernel(rows // 32, columns // tile_columns, threads=128) as (bx, by):
            tile = T.alloc_shared((32, tile_columns), "float32")
            T.copy(A[bx * 32, by * tile_columns], tile)
            for i, j in T.Parallel(32, tile_columns):  # not in the order of the copy
                B[bx * 32 + i, by * tile_columns + j] = tile[31 - i, j]

    kernel = tilewright.compile(main, target="cpu")
    assert ("prefetch" in kernel.program.compile_cpu()["asm"]) == is_read_ahead
    a = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    b = np.zeros_like(a)
    kernel(a, b)
    assert np.array_equal(b, a.reshape(2, 32, columns)[:, ::-1].reshape(rows, columns))
