"""Atomic updates of whole tiles on the CPU: rows under locks, boxes of a layout by vectors.

Integers, so that the order of updates changes nothing and every bit can be compared.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

ROWS, COLUMNS = 64, 48
LAYOUTS = {
    "seed": lambda h, i, j: [h, i // 8, j // 8, j % 2, 4 * (i % 8) + (j % 8) // 2],
    "quads": lambda h, i, j: [h, i // 16, j // 8, 4 * (i % 8) + (j % 8) // 2,
                              2 * (i % 16 // 8) + j % 2],
    "columns": lambda h, i, j: [h, j, i],
    "swizzle": lambda h, i, j: [h, i, j ^ (i % 16)],  # has no box
    "heads last": lambda h, i, j: [i, j, h],  # nor has this
}  # fmt: skip
KINDS = {"add": T.atomic_add, "max": T.atomic_max, "min": T.atomic_min}
# Where the tile of 32 x 16 starts in the tensor: at a box, and otherwise; partly outside.
STARTS = [(0, 0), (32, 32), (8, 16), (5, 16), (16, 3), (48, 16), (40, 40)]


def build(layout: str, dtype: str, kind: str, source: str | None):
    update = KINDS[kind]
    place = LAYOUTS[layout]

    @T.prim_func
    def main(
        A: T.Tensor((32, 16), source or dtype),
        At: T.Tensor((2,), "int32"),
        B: T.Tensor((2, ROWS, COLUMNS), dtype),
    ):
        with T.Kernel(4, 2, threads=64) as (bx, by):
            tile = T.alloc_shared((32, 16), source or dtype)
            T.annotate_layout({B: T.Layout(B.shape, place)})
            T.copy(A, tile)
            row = At[0]
            column = At[1]
            update(B[by, row : row + 32, column : column + 16], tile)

    return main


def check(build_kernel, *arguments: np.ndarray) -> None:
    results = {}
    for engine in ("interp", "cpu"):
        results[engine] = [argument.copy() for argument in arguments]
        tilewright.compile(build_kernel, target=engine)(*results[engine])
    np.testing.assert_array_equal(results["cpu"][-1], results["interp"][-1])


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_tiles_anywhere_in_a_layout(layout: str, start: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(-9, 9, (32, 16)).astype(np.float32)
    b = rng.integers(-9, 9, (2, ROWS, COLUMNS)).astype(np.float32)
    check(build(layout, "float32", "add", None), a, np.array(start, np.int32), b)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "bfloat16", "float64"])
def test_boxes_of_every_type(dtype: str, kind: str) -> None:
    rng = np.random.default_rng(2)
    kind_of_array = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a = rng.integers(0, 3, (32, 16)).astype(kind_of_array)
    b = rng.integers(0, 3, (2, ROWS, COLUMNS)).astype(kind_of_array)
    check(build("seed", dtype, kind, None), a, np.array((32, 16), np.int32), b)


def test_tiles_of_another_type_are_converted() -> None:
    a = np.arange(512, dtype=np.float32).reshape(32, 16) / 8
    b = np.ones((2, ROWS, COLUMNS), np.int32)
    check(build("seed", "int32", "add", "float32"), a, np.array((16, 16), np.int32), b)


def test_boxes_of_many_blocks_meet() -> None:
    """All blocks add to the same rows, some by boxes and some row by row: the locks must agree."""

    @T.prim_func
    def main(B: T.Tensor((2, ROWS, COLUMNS), "float32")):
        with T.Kernel(4000, threads=64) as bx:
            tile = T.alloc_shared((16, 16), "float32")
            T.annotate_layout({B: T.Layout(B.shape, LAYOUTS["seed"])})
            T.fill(tile, 1)
            row = (bx % 8) * 2
            T.atomic_add(B[0, row : row + 16, 16:32], tile)

    got = np.zeros((2, ROWS, COLUMNS), np.float32)
    tilewright.compile(main, target="cpu")(got)
    assert got.sum() == 4000 * 256
    counts = np.array([sum(2 * b <= i < 2 * b + 16 for b in range(8)) * 500 for i in range(ROWS)])
    rows = got[0].reshape(ROWS // 8, COLUMNS // 8, 2, 8, 4).transpose(0, 3, 1, 4, 2)
    np.testing.assert_array_equal(
        rows.reshape(ROWS, COLUMNS)[:, 16:32], counts[:, None] + np.zeros(16)
    )
