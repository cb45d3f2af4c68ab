"""Pipelined loops on the virtual GPU: any stages and iterations, edges, nesting, overlap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.cli.commands import main as tw

ROOT = Path(__file__).resolve().parents[2]
ROWS, COLUMNS = 16, 32


def add_rows(stages: int, columns: int = COLUMNS):
    """The sum of the first `count` tiles of A, tile by tile."""

    @T.prim_func
    def main(
        A: T.Tensor((5 * ROWS, columns), "float32"),
        B: T.Tensor((ROWS, columns), "float32"),
        count: T.int32,
    ):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((ROWS, columns), "float32")
            total = T.alloc_fragment((ROWS, columns), "float32")
            T.clear(total)
            for k in T.Pipelined(count, num_stages=stages):
                T.copy(A[k * ROWS, 0], tile)
                for i, j in T.Parallel(ROWS, columns):
                    total[i, j] += tile[i, j]
            T.copy(total, B)

    return main


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("stages", [1, 2, 3, 4, 12])
def test_any_stages_and_iterations(stages: int, count: int) -> None:
    kernel = tilewright.compile(add_rows(stages), target="sm_80")
    assert "cp.async.cg.shared.global" in kernel.ptx
    a = np.random.default_rng(count).integers(-9, 9, (5 * ROWS, COLUMNS)).astype(np.float32)
    b = np.full((ROWS, COLUMNS), -1, np.float32)
    kernel(a, b, count)
    np.testing.assert_array_equal(b, a.reshape(5, ROWS, COLUMNS)[:count].sum(0))
    assert not kernel.findings


def test_code_does_not_grow_with_the_stages() -> None:
    """The first copies are issued by a loop, of which LLVM unrolls a few rounds."""
    copies = tilewright.compile(add_rows(40), target="sm_80").ptx.count("cp.async.cg")
    assert copies < 40


def test_a_schedule_by_hand_gives_the_depth() -> None:
    """`order` and `stage` without num_stages: as deep as the last stage says."""

    @T.prim_func
    def main(A: T.Tensor((5 * ROWS, COLUMNS), "float32"), B: T.Tensor((ROWS, COLUMNS), "float32")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((ROWS, COLUMNS), "float32")
            total = T.alloc_fragment((ROWS, COLUMNS), "float32")
            T.clear(total)
            for k in T.Pipelined(5, order=[0, 1], stage=[0, 1]):
                T.copy(A[k * ROWS, 0], tile)
                for i, j in T.Parallel(ROWS, COLUMNS):
                    total[i, j] += tile[i, j]
            T.copy(total, B)

    kernel = tilewright.compile(main, target="sm_80")
    assert "cp.async.cg.shared.global" in kernel.ptx
    a = np.random.default_rng(2).integers(-9, 9, (5 * ROWS, COLUMNS)).astype(np.float32)
    b = np.zeros((ROWS, COLUMNS), np.float32)
    kernel(a, b)
    np.testing.assert_array_equal(b, a.reshape(5, ROWS, COLUMNS).sum(0))
    assert not kernel.findings


@pytest.mark.parametrize("columns", [1, 3, 30])
def test_odd_rows(columns: int) -> None:
    """Rows that 16 bytes do not divide: narrower copies, the same values."""
    kernel = tilewright.compile(add_rows(2, columns), target="sm_80")
    a = np.random.default_rng(1).integers(-9, 9, (5 * ROWS, columns)).astype(np.float32)
    b = np.zeros((ROWS, columns), np.float32)
    kernel(a, b, 5)
    np.testing.assert_array_equal(b, a.reshape(5, ROWS, columns).sum(0))


@pytest.mark.parametrize("rows", [33, 40, 63])
def test_last_tile_is_cut(rows: int) -> None:
    """Rows beyond the tensor are zero: cp.async reads nothing there."""

    @T.prim_func
    def main(A: T.Tensor((rows, 64), "float16"), B: T.Tensor((16, 64), "float32")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((16, 64), "float16")
            total = T.alloc_fragment((16, 64), "float32")
            T.clear(total)
            for k in T.Pipelined(T.ceildiv(rows, 16), num_stages=3):
                T.copy(A[k * 16, 0], tile)
                for i, j in T.Parallel(16, 64):
                    total[i, j] += tile[i, j]
            T.copy(total, B)

    kernel = tilewright.compile(main, target="sm_80")
    a = np.random.default_rng(2).integers(-9, 9, (rows, 64)).astype(np.float16)
    b = np.zeros((16, 64), np.float32)
    kernel(a, b)
    padded = np.zeros((64, 64), np.float32)
    padded[:rows] = a
    np.testing.assert_array_equal(b, padded.reshape(4, 16, 64).sum(0))
    assert not kernel.findings


def test_inside_another_loop() -> None:
    """The second round may not overwrite what slow threads still read of the first."""

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((4, 16, 64), "float32")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((16, 64), "float32")
            total = T.alloc_fragment((16, 64), "float32")
            for r in T.serial(4):
                T.clear(total)
                for k in T.Pipelined(r + 1, num_stages=2):
                    T.copy(A[k * 16, 0], tile)
                    for i, j in T.Parallel(16, 64):
                        total[i, j] += tile[15 - i, j]
                T.copy(total, B[r, 0, 0])

    kernel = tilewright.compile(main, target="sm_80")
    a = np.random.default_rng(3).integers(-9, 9, (64, 64)).astype(np.float32)
    b = np.zeros((4, 16, 64), np.float32)
    kernel(a, b)
    tiles = a.reshape(4, 16, 64)[:, ::-1]
    np.testing.assert_array_equal(b, np.cumsum(tiles, axis=0))
    assert not kernel.findings


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("stages", [1, 2, 3, 12])
def test_readers_in_branches_and_inner_loops(stages: int, count: int) -> None:
    """A wait stands on every path to a reader; a version that no branch read is filled again."""

    @T.prim_func
    def main(A: T.Tensor((80, 64), "float32"), B: T.Tensor((16, 64), "float32"), count: T.int32):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((16, 64), "float32")
            total = T.alloc_fragment((16, 64), "float32")
            T.clear(total)
            for r in T.serial(2):
                for k in T.Pipelined(count, num_stages=stages):
                    T.copy(A[k * 16, 0], tile)
                    if k % 2 == r:
                        for i, j in T.Parallel(16, 64):
                            total[i, j] += tile[15 - i, j]
                for k in T.Pipelined(count, num_stages=stages):
                    T.copy(A[k * 16, 0], tile)
                    for n in T.serial(k):
                        for i, j in T.Parallel(16, 64):
                            total[i, j] += tile[i, 63 - j] * (n + 1)
            T.copy(total, B)

    kernel = tilewright.compile(main, target="sm_80")
    a = np.random.default_rng(count).integers(-9, 9, (80, 64)).astype(np.float32)
    b = np.full((16, 64), -1, np.float32)
    kernel(a, b, count)
    tiles = a.reshape(5, 16, 64)[:count]
    weights = np.array([k * (k + 1) // 2 for k in range(count)], np.float32).reshape(-1, 1, 1)
    expected = tiles[:, ::-1].sum(0) + 2 * (tiles[:, :, ::-1] * weights).sum(0)
    np.testing.assert_array_equal(b, expected)
    assert not kernel.findings


def test_one_barrier_an_iteration() -> None:
    """The barrier that publishes a version also frees the one before: with two versions or more an
    iteration has one, with one version two. What the loop reads once meets in front of it."""

    def barriers(stages: int) -> int:
        kernel = tilewright.compile(add_rows(stages), target="sm_80")
        return kernel.ir("tile-insert-orderings").count("tile.barrier")

    assert [barriers(stages) for stages in (1, 2, 3, 12)] == [2, 1, 1, 1]


def test_overlapping_arguments_take_careful_code() -> None:
    """Each iteration reads what the one before wrote, through another argument."""

    @T.prim_func
    def main(A: T.Tensor((64, 32), "float32"), B: T.Tensor((64, 32), "float32")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((16, 32), "float32")
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[k * 16, 0], tile)
                for i, j in T.Parallel(16, 32):
                    B[k * 16 + i, j] = tile[i, j] + 1

    kernel = tilewright.compile(main, target="sm_80")
    a = np.random.default_rng(4).integers(-9, 9, (64, 32)).astype(np.float32)
    b = np.zeros((64, 32), np.float32)
    kernel(a, b)
    np.testing.assert_array_equal(b, a + 1)
    memory = np.zeros((80, 32), np.float32)
    memory[:16] = a[:16]
    kernel(memory[:64], memory[16:])
    np.testing.assert_array_equal(memory.reshape(5, 16, 32)[4], a[:16] + 4)


@pytest.mark.parametrize("device", ["cpu", "vgpu:sm_80", "vgpu:sm_90"])
@pytest.mark.parametrize("example", ["flash_attention.py", "matmul.py"])
def test_examples_check_themselves(example: str, device: str) -> None:
    assert tw(["run", str(ROOT / "examples" / example), "--device", device]) == 0
