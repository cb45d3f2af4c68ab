"""Blocks that certainly race are an error of the program, or of the launch that has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tilewright
import tilewright.language as T

DEVICES = ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"]
RACE = "each with a value of its own"


def product_that_forgets_its_column():
    n = T.dynamic("n")

    @T.prim_func
    def main(
        A: T.Tensor((n, 64), "float16"),
        B: T.Tensor((64, 128), "float16"),
        C: T.Tensor((n, 128), "float32"),
    ):
        with T.Kernel(2, T.ceildiv(n, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A[by * 64, 0], a)
            T.copy(B[0, bx * 64], b)
            T.clear(c)
            T.gemm(a, b, c)
            T.copy(c, C[by * 64, 0])

    return main


def branch_that_several_blocks_take():
    @T.prim_func
    def main(A: T.Tensor((256,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(4, threads=64) as bx:
            if bx > 1:
                for i in T.Parallel(64):
                    B[i] = A[bx * 64 + i]

    return main


def first_block_clears_what_all_update():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((32,), "float32")):
        with T.Kernel(2, threads=32) as bx:
            if bx == 0:
                T.clear(B)
            for i in T.Parallel(32):
                T.atomic_add(B[i], A[bx * 32 + i])

    return main


def total_that_blocks_read_beside_updates():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((65,), "float32")):
        with T.Kernel(64, threads=32) as bx:
            T.atomic_add(B[64], A[bx])
            B[bx] = B[64]

    return main


def rows_of_a_view():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(4, threads=64) as bx:
            rows = T.reshape(B, (8, 8))
            for i, j in T.Parallel(8, 8):
                rows[i, j] = A[bx * 16]

    return main


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (first_block_clears_what_all_update, r"first writes 'B'\[0\], the second updates it"),
        (total_that_blocks_read_beside_updates, r"first updates 'B'\[64\], the second reads it"),
        (rows_of_a_view, r"blocks \(0\) and \(1\) both write 'B'\[0\]"),
        # Rows of run-time number: C[by * 64, 0] is the same tile for each bx.
        (product_that_forgets_its_column, r"blocks \(0, 0\) and \(1, 0\) both write 'C'\[0, 0\]"),
        (branch_that_several_blocks_take, r"blocks \(2\) and \(3\) both write 'B'\[0\]"),
    ],
)
def test_blocks_that_race_in_every_launch(program: Callable, message: str) -> None:
    with pytest.raises(tilewright.TilewrightError, match=message):
        program()


def rows_into_one(condition: bool):
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(n, threads=64) as bx:
            for i in T.Parallel(64):
                if condition:
                    if bx == 0:
                        B[i] = A[bx, i]
                else:
                    B[i] = A[bx, i]

    return main


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_the_launch_that_has_the_blocks_is_stopped(rows: int, device: str) -> None:
    kernel = tilewright.compile(rows_into_one(condition=False), device=device)
    a = np.arange(rows * 64, dtype=np.float32).reshape(rows, 64)
    b = np.zeros(64, np.float32)
    if rows == 1:
        kernel(a, b)
        np.testing.assert_array_equal(b, a[0])
    else:
        message = "race|both write" if device == "interp" else RACE
        with pytest.raises(tilewright.TilewrightError, match=message):
            kernel(a, b)


@pytest.mark.parametrize("device", DEVICES)
def test_one_block_may_write(device: str) -> None:
    kernel = tilewright.compile(rows_into_one(condition=True), device=device)
    a = np.arange(5 * 64, dtype=np.float32).reshape(5, 64)
    b = np.zeros(64, np.float32)
    kernel(a, b)
    np.testing.assert_array_equal(b, a[0])


@pytest.mark.parametrize("device", DEVICES)
def test_blocks_that_repeat_the_work_of_their_neighbours(device: str) -> None:
    """Overlapping parts hold equal values: allowed."""

    @T.prim_func
    def main(A: T.Tensor((160,), "float32"), B: T.Tensor((160,), "float32")):
        with T.Kernel(4, threads=64) as bx:
            for i in T.Parallel(64):
                B[bx * 32 + i] = A[bx * 32 + i] * 2

    a = np.arange(160, dtype=np.float32)
    b = np.zeros_like(a)
    tilewright.compile(main, device=device)(a, b)
    np.testing.assert_array_equal(b, a * 2)


@pytest.mark.parametrize("device", DEVICES)
def test_updates_after_a_wait_for_all_blocks(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((65,), "float32")):
        with T.Kernel(64, threads=32) as bx:
            if bx == 0:
                B[64] = 0.0
            T.sync_grid()
            T.atomic_add(B[64], A[bx])
            T.sync_grid()
            B[bx] = B[64]

    a, b = np.arange(64, dtype=np.float32), np.ones(65, np.float32)
    tilewright.compile(main, device=device)(a, b)
    np.testing.assert_array_equal(b, a.sum())


@pytest.mark.parametrize("device", DEVICES)
def test_a_block_that_updates_what_it_has_written(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(2, threads=32) as bx:
            rows = T.reshape(B, (2, 32))
            T.clear(rows[bx, :])
            for i in T.Parallel(32):
                T.atomic_add(rows[bx, i], A[i])
            for i in T.Parallel(32):
                B[bx * 32 + i] += 1.0

    a, b = np.arange(64, dtype=np.float32), np.full(64, 7, np.float32)
    tilewright.compile(main, device=device)(a, b)
    np.testing.assert_array_equal(b, np.tile(a[:32], 2) + 1)
