"""Tiles that serve several blocks: the CPU does not copy and pack again what is there already.

Blocks of the same rows of a product read the same rows of A. What was packed for one must be right
for the next, and never for another launch. Small integers: the CPU owes the interpreter's bits.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

SIZE, ROWS, COLUMNS = 32, 3, 4
DTYPES = {
    "float32": (np.float32, "float32"),
    "float16": (np.float16, "float32"),
    "bfloat16": (ml_dtypes.bfloat16, "float32"),
    "int8": (np.int8, "int32"),
}


def product(dtype: str, sums: str, rows_first: bool, transposes: tuple[bool, bool]):
    """ROWS x COLUMNS blocks that each read all of k."""
    m, n, k = ROWS * SIZE, COLUMNS * SIZE, 2 * SIZE
    turn_a, turn_b = transposes
    a_shape, a_tile = ((k, m), (k, SIZE)) if turn_a else ((m, k), (SIZE, k))
    b_shape, b_tile = ((n, k), (SIZE, k)) if turn_b else ((k, n), (k, SIZE))

    @T.prim_func
    def main(A: T.Tensor(a_shape, dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((m, n), sums)):
        grid = (ROWS, COLUMNS) if rows_first else (COLUMNS, ROWS)
        with T.Kernel(*grid, threads=128) as (x, y):
            row = (x if rows_first else y) * SIZE
            column = (y if rows_first else x) * SIZE
            a = T.alloc_shared(a_tile, dtype)
            b = T.alloc_shared(b_tile, dtype)
            c = T.alloc_fragment((SIZE, SIZE), sums)
            T.clear(c)
            for turn in T.Pipelined(1):
                T.copy(A[turn * k, row] if turn_a else A[row, turn * k], a)
                T.copy(B[column, turn * k] if turn_b else B[turn * k, column], b)
                T.gemm(a, b, c, transpose_A=turn_a, transpose_B=turn_b)
            T.copy(c, C[row, column])

    return main


def draw(dtype: str, transposes: tuple[bool, bool], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = ((ROWS * SIZE, 2 * SIZE), (2 * SIZE, COLUMNS * SIZE))
    return [
        np.ascontiguousarray(rng.integers(-3, 4, shape[::-1] if turned else shape).astype(
            DTYPES[dtype][0]
        ))
        for shape, turned in zip(shapes, transposes, strict=True)
    ]  # fmt: skip


def exact(a: np.ndarray, b: np.ndarray, transposes: tuple[bool, bool]) -> np.ndarray:
    left, right = (x.T if t else x for x, t in zip((a, b), transposes, strict=True))
    return left.astype(np.float64) @ right.astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("rows_first", "transposes"),
    [
        (False, (False, False)),
        (True, (False, True)),
        (False, (True, False)),
        (True, (True, True)),
        (True, (False, False)),
    ],
)
def test_blocks_share_an_operand(dtype, rows_first, transposes) -> None:
    sums = DTYPES[dtype][1]
    kernel = tilewright.compile(product(dtype, sums, rows_first, transposes), target="cpu")
    is_kept = 'llvm.icmp "ne"' in kernel.program.compile_cpu()["host"]
    assert is_kept or dtype == "float32"  # which is read where it is
    a, b = draw(dtype, transposes, 0)
    c = np.zeros((ROWS * SIZE, COLUMNS * SIZE), sums)
    for seed in range(3):  # other values at the same addresses
        kernel(a, b, c)
        np.testing.assert_array_equal(c, exact(a, b, transposes))
        for array, other in zip((a, b), draw(dtype, transposes, seed + 1), strict=True):
            array[...] = other


def test_each_operand_has_its_own_smallest_magnitude() -> None:
    """Rows whose products are subnormal between rows whose products are not, and the reverse."""
    main = product("bfloat16", "float32", False, (False, False))
    kernel = tilewright.compile(main, target="cpu")
    a, b = draw("bfloat16", (False, False), 5)
    scales = np.repeat([1, 2.0**-100, 1], SIZE)[:, None]
    a, b = (a * scales).astype(a.dtype), (b.astype(np.float64) * 2.0**-40).astype(b.dtype)
    c = np.zeros((ROWS * SIZE, COLUMNS * SIZE), np.float32)
    kernel(a, b, c)
    expected = exact(a, b, (False, False))
    assert 0 < np.abs(expected[SIZE : 2 * SIZE]).max() < 2.0**-126
    np.testing.assert_array_equal(c, expected)


def test_a_tensor_that_changes_is_read_again() -> None:
    """Each turn multiplies rows of A by B and puts the product in their place."""

    @T.prim_func
    def main(A: T.Tensor((2 * SIZE, SIZE), "float32"), B: T.Tensor((SIZE, SIZE), "float32")):
        with T.Kernel(1, 2, threads=128) as (_, row):
            a = T.alloc_shared((SIZE, SIZE), "float32")
            b = T.alloc_shared((SIZE, SIZE), "float32")
            c = T.alloc_fragment((SIZE, SIZE), "float32")
            for _turn in T.serial(3):
                T.copy(A[row * SIZE, 0], a)
                T.copy(B, b)
                T.clear(c)
                T.gemm(a, b, c)
                T.copy(c, A[row * SIZE, 0])

    rng = np.random.default_rng(2)
    a = rng.integers(-3, 4, (2 * SIZE, SIZE)).astype(np.float32)
    b = rng.integers(-1, 2, (SIZE, SIZE)).astype(np.float32)
    expected = a @ b @ b @ b
    tilewright.compile(main, target="cpu")(a, b)
    np.testing.assert_array_equal(a, expected)


def test_parts_that_begin_at_one_address_outside() -> None:
    """Two columns right of the last one is the next row: the same address, but another part."""
    width = 2 * SIZE

    @T.prim_func
    def main(
        A: T.Tensor((4 * SIZE, width), "float32"),
        B: T.Tensor((SIZE, SIZE), "float32"),
        C: T.Tensor((2, SIZE, SIZE), "float32"),
    ):
        with T.Kernel(1, 2, threads=128) as (_, part):
            a = T.alloc_shared((SIZE, SIZE), "float32")
            b = T.alloc_shared((SIZE, SIZE), "float32")
            c = T.alloc_fragment((SIZE, SIZE), "float32")
            T.clear(c)
            T.copy(A[part, width - part * width], a)
            T.copy(B, b)
            T.gemm(a, b, c)
            T.copy(c, C[part, 0, 0])

    rng = np.random.default_rng(2)
    a = rng.integers(-3, 4, (4 * SIZE, width)).astype(np.float32)
    b = rng.integers(-1, 2, (SIZE, SIZE)).astype(np.float32)
    c = np.zeros((2, SIZE, SIZE), np.float32)
    tilewright.compile(main, target="cpu")(a, b, c)
    np.testing.assert_array_equal(c[0], np.zeros_like(b))
    np.testing.assert_array_equal(c[1], a[1 : 1 + SIZE, :SIZE] @ b)
