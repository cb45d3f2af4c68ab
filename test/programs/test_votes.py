"""Votes of warps and blocks, and the thread that is elected."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL


@T.prim_func
def voting(A: T.Tensor((3, 64), "int32"), B: T.Tensor((3, 8, 64), "int64")):
    with T.Kernel(3, threads=64) as bx:
        tx = T.get_thread_binding()
        mine = A[bx, tx]
        B[bx, 0, tx] = T.any_sync(mine)
        B[bx, 1, tx] = T.all_sync(mine > 0)
        B[bx, 2, tx] = T.ballot(mine)
        B[bx, 3, tx] = T.syncthreads_count(mine)
        B[bx, 4, tx] = T.syncthreads_and(mine)
        B[bx, 5, tx] = T.syncthreads_or(mine)
        B[bx, 6, tx] = T.if_then_else(T.shuffle_elect(16), 1, 0)
        B[bx, 7, tx] = T.if_then_else(T.shuffle_elect(0), 1, 0)


@ON_ALL
def test_votes_of_warps_and_blocks(device: str) -> None:
    a = np.zeros((3, 64), np.int32)
    a[1] = np.random.default_rng(0).integers(0, 2, 64)
    a[1, :32] = 7
    a[2] = 1
    b = np.zeros((3, 8, 64), np.int64)
    kernel = tilewright.compile(voting, device=device)
    kernel(a, b)
    assert kernel.findings == []
    warps = (a != 0).reshape(3, 2, 32)
    bits = (warps.astype(np.int64) << np.arange(32)).sum(-1)
    of_warps = [warps.any(-1), (a > 0).reshape(3, 2, 32).all(-1), bits]
    for row, expected in enumerate(of_warps):
        np.testing.assert_array_equal(b[:, row], np.repeat(expected, 32, axis=1))
    of_blocks = [(a != 0).sum(-1), (a != 0).all(-1), (a != 0).any(-1)]
    for row, expected in enumerate(of_blocks, start=3):
        np.testing.assert_array_equal(b[:, row], np.repeat(expected, 64).reshape(3, 64))
    np.testing.assert_array_equal(b[0, 6], np.arange(64) % 16 == 0)
    np.testing.assert_array_equal(b[0, 7], np.arange(64) == 0)


def test_vote_of_some_lanes_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="all lanes vote, expected the mask"):

        @T.prim_func
        def main(A: T.Tensor((32,), "int32")):
            with T.Kernel(1, threads=32):
                tx = T.get_thread_binding()
                A[tx] = T.any_sync(A[tx], 0xFFFF)
