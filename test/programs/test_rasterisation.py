"""`T.use_swizzle` renumbers blocks: every block of the grid still runs exactly once."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def count_visits(grid_x: int, grid_y: int, panel: int, order: str):
    @T.prim_func
    def main(A: T.Tensor((grid_y, grid_x), "int32")):
        with T.Kernel(grid_x, grid_y, threads=32) as (bx, by):
            T.use_swizzle(panel, order=order)
            for i in T.Parallel(32):
                T.atomic_add(A[by, bx], i)

    return main


@pytest.mark.parametrize("order", ["row", "column"])
@pytest.mark.parametrize("panel", [1, 2, 4, 10])
@pytest.mark.parametrize(("grid_x", "grid_y"), [(1, 1), (5, 3), (4, 8), (7, 9), (1, 6)])
def test_every_block_runs_once(grid_x: int, grid_y: int, panel: int, order: str) -> None:
    kernel = tilewright.compile(count_visits(grid_x, grid_y, panel, order), target="sm_80")
    visits = np.zeros((grid_y, grid_x), np.int32)
    kernel(visits)
    np.testing.assert_array_equal(visits, sum(range(32)))


def test_both_block_numbers_take_part() -> None:
    """Without panels a column's number is the block's own; with them it depends on both."""

    def columns(panel: int):
        @T.prim_func
        def main(A: T.Tensor((8,), "int32")):
            with T.Kernel(8, 4, threads=32) as (bx, by):
                if panel:
                    T.use_swizzle(panel)
                for i in T.Parallel(1):
                    T.atomic_add(A[bx + i], 1)

        return tilewright.compile(main, target="sm_80").ptx

    assert "%ctaid.y" not in columns(0)
    assert "%ctaid.y" in columns(2)
