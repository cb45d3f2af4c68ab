"""`T.PersistentTileScheduler` without a number of workers takes one for each multiprocessor."""

from __future__ import annotations

import numpy as np
import tilewright
import tilewright.language as T


def test_each_multiprocessor_is_a_worker() -> None:
    @T.prim_func
    def main(A: T.Tensor((200, 2), "int32")):
        with T.Kernel(108, threads=32) as block:
            scheduler = T.PersistentTileScheduler(200, 2)
            scheduler.init(block)
            while scheduler.valid():
                A[scheduler.m_idx, scheduler.n_idx] = scheduler.num_workers + scheduler.current_iter
                scheduler.next_tile()

    visited = np.zeros((200, 2), np.int32)
    tilewright.compile(main, target="sm_80", device="interp")(visited)
    order = np.arange(400).reshape(2, 200).T  # tiles are counted column by column
    assert (visited == 108 + order // 108).all()
