"""Programs of hundreds of statements, and numbers of thousands: compilation stays fast."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def shuffled(statements: int, blocks: int):
    """That many statements on three tiles; each adds another, transposed. With its reference."""
    draw = random.Random(statements)
    kinds = [draw.randrange(3) for _ in range(statements)]

    @T.macro
    def add(to, source):
        for i, j in T.Parallel(16, 16):
            to[i, j] = source[j, i] - to[i, j]

    @T.macro
    def work(x, y, z, first, last):
        if last - first > 1:
            work(x, y, z, first, (first + last) // 2)
            work(x, y, z, (first + last) // 2, last)
        elif kinds[first] == 0:
            add(x, y)
        elif kinds[first] == 1:
            add(y, z)
        else:
            add(z, x)

    @T.prim_func
    def main(A: T.Tensor((16 * blocks, 16), "int32")):
        with T.Kernel(blocks, threads=128) as block:
            x = T.alloc_shared((16, 16), "int32")
            y = T.alloc_shared((16, 16), "int32")
            z = T.alloc_shared((16, 16), "int32")
            T.copy(A[block * 16, 0], x)
            T.copy(A[block * 16, 0], y)
            T.fill(z, 1)
            work(x, y, z, 0, statements)
            T.copy(x, A[block * 16, 0])

    def expect(a: np.ndarray) -> np.ndarray:
        result = a.copy()
        for block in range(blocks):
            rows = slice(16 * block, 16 * block + 16)
            x, y, z = a[rows].copy(), a[rows].copy(), np.ones((16, 16), np.int32)
            for kind in kinds:
                to, source = ((x, y), (y, z), (z, x))[kind]
                to[:] = source.T - to
            result[rows] = x
        return result

    return main, expect


@pytest.mark.parametrize("blocks", [1, 3])
def test_long_bodies_become_several_functions(blocks: int) -> None:
    """LLVM's analyses are quadratic in the loops of one function."""
    main, expect = shuffled(130, blocks)
    kernel = tilewright.compile(main, device="cpu")
    a = np.random.default_rng(1).integers(-9, 9, (16 * blocks, 16)).astype(np.int32)
    expected = expect(a)
    kernel(a)
    np.testing.assert_array_equal(a, expected)
    assert ".part:" in kernel.program.compile_cpu()["asm"]


def test_ordinary_bodies_stay_whole() -> None:
    main, _ = shuffled(20, 2)
    assert ".part:" not in tilewright.compile(main, device="cpu").program.compile_cpu()["asm"]


def test_bounds_with_large_divisors_take_no_time() -> None:
    """MLIR's search for an integer point took 12 s in all, for a padding that no program has."""

    @T.prim_func
    def main(A: T.Tensor((1, 8, 8, 32), "float16"), B: T.Tensor((64, 32), "float16")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((64, 32), "float16")
            T.c2d_im2col(A, tile, 0, 0, 3, 1, 1, 20_000)
            T.copy(tile, B)

    start = time.process_time()
    kernel = tilewright.compile(main, device="vgpu:sm_80")
    assert time.process_time() - start < 4
    b = np.ones((64, 32), np.float16)
    kernel(np.ones((1, 8, 8, 32), np.float16), b)
    assert not b.any()  # all of it is padding
