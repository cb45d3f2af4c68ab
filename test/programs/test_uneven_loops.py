"""Loops that threads leave at different times, whose statements use what other threads write."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_rows_are_updated_in_place(device: str) -> None:
    """Each thread reads and writes rows of its own; no analysis has to know that."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 3), "int64")):
        with T.Kernel(2, threads=32) as bx:
            tx = T.get_thread_binding()
            seen = T.alloc_local((1,), "uint64")
            for i in T.serial(bx * 32 + tx, n, 64):
                seen[0] = 0
                for j in T.unroll(3):
                    bit = T.uint64(1) << A[i, j]
                    found = bit & seen[0]
                    seen[0] |= bit
                    if found:
                        A[i, j] = -1

    for rows in (150, 3):
        a = np.random.default_rng(rows).integers(0, 4, (rows, 3))
        expected = a.copy()
        for row in expected:
            for j in (1, 2):
                if row[j] in row[:j]:
                    row[j] = -1
        run(main, device, a)
        np.testing.assert_array_equal(a, expected)


@ON_ALL
def test_warps_count_with_votes(device: str) -> None:
    """Each warp has a range of its own; its lanes vote, and share counters."""

    @T.prim_func
    def main(
        K: T.Tensor((200,), "int32"), first: T.Tensor((3,), "int32"), R: T.Tensor((200,), "int32")
    ):
        with T.Kernel(1, threads=64) as bx:
            tx = T.get_thread_binding()
            lane = tx % 32
            warp = tx // 32
            counts = T.alloc_shared((2, 4), "int32")
            if tx < 8:
                counts[tx // 4, tx % 4] = 0
            below = (T.uint32(1) << lane) - 1
            end = first[warp] + T.ceildiv(first[warp + 1] - first[warp], 32) * 32
            for i in T.serial(first[warp] + lane, end, 32):
                key = T.Select(i < first[warp + 1], K[i], -1)
                mask = T.call_extern(T.uint32, "__match_any_sync", 0xFFFFFFFF, key)
                if key >= 0:
                    R[i] = counts[warp, key] + T.popcount(mask & below)
                    if mask & ~(below * 2 + 1) == 0:  # the last lane of its key
                        counts[warp, key] += T.popcount(mask)
                T.sync_warp()

    keys = np.random.default_rng(5).integers(0, 4, 200).astype(np.int32)
    first = np.array([0, 130, 200], np.int32)
    ranks, expected = np.zeros((2, 200), np.int32)
    run(main, device, keys, first, ranks)
    for begin, end in ((0, 130), (130, 200)):
        for i in range(begin, end):
            expected[i] = np.count_nonzero(keys[begin:i] == keys[i])
    np.testing.assert_array_equal(ranks, expected)


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90", "vgpu:sm_90a"])
def test_a_pipelined_loop_that_ends_before_it_begins(device: str, stages: int) -> None:
    """Copies that run ahead must not start where the upper bound is negative."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(n - 4, num_stages=stages):
                T.copy(A[k, 0:64, 0:64], a)
                T.gemm(a, a, c)
            T.copy(c, C)

    kernel = tilewright.compile(main, device=device)
    for size in (1, 4, 5, 7):
        a = np.random.default_rng(1).integers(-2, 3, (size, 64, 64)).astype(np.float16)
        c = np.full((64, 64), 7, np.float32)
        kernel(a, c)
        wide = a.astype(np.float32)
        expected = sum((wide[k] @ wide[k] for k in range(size - 4)), np.zeros_like(c))
        np.testing.assert_array_equal(c, expected)
        assert kernel.findings == []
