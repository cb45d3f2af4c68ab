"""Tiles that the CPU keeps transposed, and others that it must not.

The pass is lib/Transforms/Cpu/TransposeTiles.cpp; its lit test shows what it does.
Small integers: every engine owes the same bits.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
DIM, TURNS = 64, 3


def scores(rows: int, columns: int, dtype: str, use: str):
    """Attention without exponentials: masked scores, their extremes, a second product."""

    @T.prim_func
    def main(
        Q: T.Tensor((rows, DIM), dtype),
        K: T.Tensor((TURNS * columns, DIM), dtype),
        Out: T.Tensor((rows, DIM), "float32"),
        Stats: T.Tensor((2, rows), "float32"),
    ):
        with T.Kernel(1, threads=128):
            q = T.alloc_shared((rows, DIM), dtype)
            k = T.alloc_shared((columns, DIM), dtype)
            s = T.alloc_fragment((rows, columns), "float32")
            p = T.alloc_fragment((rows, columns), dtype)
            out = T.alloc_fragment((rows, DIM), "float32")
            most = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            sums = T.alloc_fragment((rows,), "float32")
            T.copy(Q, q)
            T.clear(out)
            T.clear(total)
            T.fill(most, -1000)
            for turn in T.Pipelined(TURNS, num_stages=1):
                T.copy(K[turn * columns, 0], k)
                for i, j in T.Parallel(rows, columns):
                    s[i, j] = T.if_then_else(i >= turn * columns + j, 0, -100)
                T.gemm(q, k, s, transpose_B=True)
                T.reduce_max(s, most, dim=1, clear=False)
                for i, j in T.Parallel(rows, columns):
                    s[i, j] = T.if_then_else(s[i, j] * 2 > most[i], 1, 0) + T.cast(j % 2, "float32")
                T.reduce_sum(s, sums, dim=1)
                for i in T.Parallel(rows):
                    total[i] += sums[i]
                T.copy(s, p)
                if use == "left":
                    T.gemm(p, k, out)
                elif use == "transposed":
                    T.gemm(p, k, out, transpose_A=True)
                else:
                    for i, j in T.Parallel(rows, columns):
                        out[i, j] += s[j, i]
            T.copy(out, Out)
            T.copy(most, Stats[0, :])
            T.copy(total, Stats[1, :])

    return main


def check(rows: int, columns: int, dtype: str, use: str) -> None:
    rng = np.random.default_rng(6)
    q, k = (rng.integers(-2, 3, (n, DIM)).astype(DTYPES[dtype]) for n in (rows, TURNS * columns))
    results = {}
    for engine in ("interp", "cpu"):
        out, stats = np.zeros((rows, DIM), np.float32), np.zeros((2, rows), np.float32)
        tilewright.compile(scores(rows, columns, dtype, use), target=engine)(q, k, out, stats)
        results[engine] = out, stats
    for got, expected in zip(results["cpu"], results["interp"], strict=True):
        assert expected.any()
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize("rows, columns", [(64, 64), (48, 40), (32, 96)])
def test_transposed_scores_are_the_same(rows: int, columns: int, dtype: str) -> None:
    check(rows, columns, dtype, "left")


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_scores_that_are_read_transposed_lie_so_when_transposed(dtype: str) -> None:
    check(64, 64, dtype, "transposed")


def test_scores_read_both_ways_stay() -> None:
    check(64, 64, "float32", "across")


def test_rows_that_are_no_vectors_stay() -> None:
    check(40, 64, "float32", "left")
