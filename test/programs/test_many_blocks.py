"""Grids of many blocks in each number of dimensions: every block runs once, with its numbers."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

#: More than the units that threads of the CPU take at once, and no multiple of them.
GRIDS = [(1003,), (17, 59), (59, 17), (7, 11, 13), (13, 1, 79), (1, 5, 201)]


def count(grid: tuple[int, ...]):
    @T.prim_func
    def main(Numbers: T.Tensor((*reversed(grid), 4), "int32"), Total: T.Tensor((1,), "int32")):
        with T.Kernel(*grid, threads=32) as ids:
            block = list(ids) if len(grid) > 1 else [ids]
            for i in T.Parallel(4):
                number = 0
                for id, extent in zip(block, grid, strict=True):
                    number = number * extent + id
                Numbers[(*reversed(block), i)] += number * 4 + i
            for i in T.Parallel(1):
                T.atomic_add(Total[i], 1)

    return main


@ON_ALL
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_every_block_runs_once(grid: tuple[int, ...], device: str) -> None:
    numbers = np.full((*reversed(grid), 4), 5, np.int32)
    total = np.zeros(1, np.int32)
    run(count(grid), device, numbers, total)
    expected = np.arange(numbers.size, dtype=np.int32).reshape(*grid, 4)
    np.testing.assert_array_equal(numbers - 5, expected.transpose(*reversed(range(len(grid))), -1))
    assert total[0] == np.prod(grid)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_run_time_grids(grid: tuple[int, ...]) -> None:
    """The extents are symbols: no loop over blocks has constant bounds."""
    names = [T.dynamic(name) for name in ("x", "y", "z")[: len(grid)]]
    kernel = tilewright.compile(count(tuple(names)), device="cpu")
    numbers, total = np.zeros((*reversed(grid), 4), np.int32), np.zeros(1, np.int32)
    kernel(numbers, total)
    expected = np.arange(numbers.size, dtype=np.int32).reshape(*grid, 4)
    np.testing.assert_array_equal(numbers, expected.transpose(*reversed(range(len(grid))), -1))
    assert total[0] == np.prod(grid)
