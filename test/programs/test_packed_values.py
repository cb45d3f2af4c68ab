"""Packed values: lanes are computed one by one, whatever the instruction."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_magnitudes_of_pairs(device: str) -> None:
    """A tile of pairs, and the same memory as single elements."""

    @T.prim_func
    def main(A: T.Tensor((32, 8), "bfloat16"), B: T.Tensor((32, 4), "bfloat16")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            largest = T.alloc_local((2,), T.bfloat16x2)
            single = T.view(largest, (4,), T.bfloat16)
            for i in T.unroll(2):
                for j in T.unroll(2):
                    packed = T.bfloat16x2(A[tx, i * 4 + j * 2], A[tx, i * 4 + j * 2 + 1])
                    if i == 0:
                        largest[j] = T.abs2(packed)
                    else:
                        largest[j] = T.max2(T.abs2(packed), largest[j])
            for j in T.vectorized(4):
                B[tx, j] = single[j]

    a = np.random.default_rng(1).standard_normal((32, 8)).astype(ml_dtypes.bfloat16)
    b = np.zeros((32, 4), ml_dtypes.bfloat16)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, np.abs(a.reshape(32, 2, 4)).max(axis=1))


@ON_ALL
def test_arithmetic_of_pairs_rounds_in_their_type(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 3, 2), "float16"), B: T.Tensor((64, 4, 2), "float16")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            x = T.float16x2(A[tx, 0, 0], A[tx, 0, 1])
            y = T.float16x2(A[tx, 1, 0], A[tx, 1, 1])
            z = T.float16x2(A[tx, 2, 0], A[tx, 2, 1])
            B[tx, 0, 0:2] = T.add2(x, y)
            B[tx, 1, 0:2] = T.sub2(x, y)
            B[tx, 2, 0:2] = T.mul2(x, y)
            B[tx, 3, 0:2] = T.fma2(x, y, z)

    a = np.random.default_rng(2).standard_normal((64, 3, 2)).astype(np.float16)
    b = np.zeros((64, 4, 2), np.float16)
    run(main, device, a, b)
    x, y, z = a[:, 0], a[:, 1], a[:, 2]
    fused = (x.astype(np.float64) * y + z).astype(np.float16)
    for row, expected in enumerate((x + y, x - y, x * y, fused)):
        np.testing.assert_array_equal(b[:, row], expected)


@ON_ALL
def test_words_of_memory(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 8), "float16"), B: T.Tensor((64, 8), "float16"),
             C: T.Tensor((64,), "uint32"), D: T.Tensor((64, 4), "float32")):  # fmt: skip
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            words = T.ldg128(A[tx, 0:8])
            T.stg128(B[tx, 0:8], words)
            C[tx] = T.ldg32(A[tx, 2])
            D[tx, 0:4] = T.reinterpret(words, T.float32x4)

    a = np.random.default_rng(3).standard_normal((64, 8)).astype(np.float16)
    b, c, d = np.zeros_like(a), np.zeros(64, np.uint32), np.zeros((64, 4), np.float32)
    run(main, device, a, b, c, d)
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(c, a[:, 2:4].copy().view(np.uint32)[:, 0])
    np.testing.assert_array_equal(d.view(np.uint32), a.view(np.uint32))


def test_pairs_of_different_types_are_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="'T.add2' of different types: bfloat16x2"):

        @T.prim_func
        def main(A: T.Tensor((2,), "float16"), B: T.Tensor((2,), "bfloat16")):
            with T.Kernel(1, threads=32):
                A[0:2] = T.add2(T.float16x2(A[0], A[1]), T.bfloat16x2(B[0], B[1]))
