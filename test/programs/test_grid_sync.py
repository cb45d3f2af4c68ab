"""`T.sync_grid`: all blocks meet, and see what the others have written."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_blocks_see_what_others_wrote_before(device: str) -> None:
    """Twice, with numbers, a read of a constant tensor and a tile's name on both sides."""

    @T.prim_func
    def main(
        A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32"), N: T.Tensor((4,), "int32")
    ):
        with T.Kernel(4, threads=64) as bx:
            tile = T.alloc_shared((64,), "float32")
            largest = T.alloc_var("float32")
            first = bx * 64
            length = N[bx]
            T.copy(A[first], tile)
            for i in T.Parallel(64):
                A[first + i] = tile[i] * 2.0
            T.sync_grid()
            for i in T.Parallel(64):
                tile[i] = A[255 - first - i]
            for i in T.Parallel(64):
                if i < length:
                    B[first + i] = tile[i] + 1.0
            T.sync_grid()
            largest = -T.infinity("float32")
            for i in T.serial(256):
                largest = T.max(largest, B[i])
            A[first] = largest

    a, b = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    run(main, device, a, b, np.array([64, 10, 0, 64], np.int32))
    expected = np.arange(256, dtype=np.float32)[::-1] * 2 + 1
    expected[64 + 10 : 192] = 0
    np.testing.assert_array_equal(b, expected)
    doubled = np.arange(256, dtype=np.float32) * 2
    doubled[::64] = expected.max()
    np.testing.assert_array_equal(a, doubled)


@ON_ALL
def test_threads_meet_across_blocks(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((128,), "int32"), B: T.Tensor((128,), "int32")):
        with T.Kernel(2, threads=64) as bx:
            tx = T.get_thread_binding()
            here = bx * 64 + tx
            A[here] = here * 3
            T.sync_grid()
            B[here] = A[127 - here]

    a, b = np.zeros(128, np.int32), np.zeros(128, np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, np.arange(128)[::-1] * 3)


@ON_ALL
def test_tiles_keep_their_values(device: str) -> None:
    """A shared tile and a fragment, on a grid of a run-time extent, through two meetings."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 64), "float32"), B: T.Tensor((n, 64), "float32")):
        with T.Kernel(n, 2, threads=32) as (bx, by):
            sums = T.alloc_fragment((32,), "float32")
            codes = T.alloc_shared((2, 32), "int32")
            T.copy(A[bx, by * 32], sums)
            for i, j in T.Parallel(2, 32):
                codes[i, j] = bx * 1000 + by * 100 + i * 10
            T.sync_grid()
            for i in T.Parallel(32):
                A[bx, by * 32 + i] = sums[i] + 1
            for j in T.Parallel(32):
                codes[1, j] += 1
            T.sync_grid()
            for i in T.Parallel(32):
                B[bx, by * 32 + i] = sums[i] * 2 + codes[0, i] + codes[1, i]

    for rows in (3, 1):
        a = np.arange(rows * 64, dtype=np.float32).reshape(rows, 64)
        b, before = np.zeros((rows, 64), np.float32), a.copy()
        run(main, device, a, b)
        block = np.arange(rows)[:, None] * 2000 + (np.arange(64) // 32) * 200 + 11
        np.testing.assert_array_equal(b, before * 2 + block)


def test_array_that_would_have_to_keep_its_values() -> None:
    with pytest.raises(tilewright.TilewrightError, match="'sums' may be read after it"):

        @T.prim_func
        def main(A: T.Tensor((2, 64), "float32")):
            with T.Kernel(2, threads=64) as bx:
                sums = T.alloc_local((1,), "float32")
                tx = T.get_thread_binding()
                sums[0] = A[bx, tx]
                T.sync_grid()
                A[bx, tx] = sums[0]


def test_value_that_was_read_before() -> None:
    with pytest.raises(tilewright.TilewrightError, match="a value from before is used after it"):

        @T.prim_func
        def main(A: T.Tensor((2,), "float32")):
            with T.Kernel(2, threads=64) as bx:
                old = A[bx] + 1.0
                A[bx] = 0.0
                T.sync_grid()
                A[1 - bx] = old


def test_in_a_loop_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="in a loop or branch is not supported"):

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(2, threads=64) as bx:
                for _ in T.serial(4):
                    A[bx] = A[1 - bx]
                    T.sync_grid()
