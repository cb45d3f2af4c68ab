"""Tiles that gemms sum up in: the CPU neither fills nor copies them where nobody can tell.

The first turn of a loop begins with the filled-in value, the last one writes to the tensor. Small
integers: the CPU owes the interpreter's bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

SIZE, TURNS = 64, 3
DTYPES = {
    "float32": (np.float32, "float32"),
    "bfloat16": (ml_dtypes.bfloat16, "float32"),
    "int8": (np.int8, "int32"),
}


def run(kernel, dtype: str, turns: int) -> np.ndarray:
    array_type, sums = DTYPES[dtype]
    rng = np.random.default_rng(7)
    a = rng.integers(-3, 4, (SIZE, SIZE * turns)).astype(array_type)
    b = rng.integers(-3, 4, (SIZE * turns, SIZE)).astype(array_type)
    c = rng.integers(-9, 9, (2 * SIZE, SIZE)).astype(sums)
    kernel(a, b, c)
    return c


def check(build: Callable, dtype: str, numbers_of_turns: tuple[int, ...]) -> None:
    function = build(dtype, DTYPES[dtype][1])
    ours, reference = (tilewright.compile(function, target=name) for name in ("cpu", "interp"))
    for turns in numbers_of_turns:
        expected = run(reference, dtype, turns)
        np.testing.assert_array_equal(run(ours, dtype, turns), expected)


def product(kind: Callable, first: int, by_copy: bool):
    """`c` begins with `first`, is summed up in a loop of that kind and copied to C's lower half."""

    def build(dtype: str, sums: str):
        k = T.dynamic("k")

        @T.prim_func
        def main(
            A: T.Tensor((SIZE, k), dtype),
            B: T.Tensor((k, SIZE), dtype),
            C: T.Tensor((2 * SIZE, SIZE), sums),
        ):
            with T.Kernel(1, threads=128) as start:
                a = T.alloc_shared((SIZE, SIZE), dtype)
                b = T.alloc_shared((SIZE, SIZE), dtype)
                c = T.alloc_fragment((SIZE, SIZE), sums)
                T.fill(c, first)
                for turn in kind(T.ceildiv(k, SIZE)):
                    T.copy(A[0, turn * SIZE], a)
                    T.copy(B[turn * SIZE, 0], b)
                    T.gemm(a, b, c)
                if by_copy:
                    T.copy(c, C[(start + 1) * SIZE, 0])
                else:
                    for i, j in T.Parallel(SIZE, SIZE):
                        C[i, j] = c[j, i]

        return main

    return build


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("kind", "first", "by_copy"),
    [(T.Pipelined, 0, True), (T.serial, 5, True), (T.Pipelined, 5, False)],
)
def test_loops_of_any_number_of_turns(dtype, kind, first, by_copy) -> None:
    check(product(kind, first, by_copy), dtype, (0, 1, 2, TURNS))


def make_kernel(statements: Callable, blocks: int):
    """The statements, which sum up in `c`, with the tiles `a` and `b` to copy A and B to."""

    def build(dtype: str, sums: str):
        @T.prim_func
        def main(
            A: T.Tensor((SIZE, SIZE * TURNS), dtype),
            B: T.Tensor((SIZE * TURNS, SIZE), dtype),
            C: T.Tensor((2 * SIZE, SIZE), sums),
        ):
            with T.Kernel(blocks, threads=128) as block:
                a = T.alloc_shared((SIZE, SIZE), dtype)
                b = T.alloc_shared((SIZE, SIZE), dtype)
                c = T.alloc_fragment((SIZE, SIZE), sums)
                T.clear(c)
                statements(block, A, B, C, a, b, c)

        return main

    return build


@T.macro
def reads_the_tensor_behind_the_product(block, A, B, C, a, b, c):
    """Each turn reads what the tensor held before the kernel."""
    before = T.alloc_fragment((SIZE, SIZE), c.dtype)
    for turn in T.Pipelined(TURNS, num_stages=1):
        T.copy(A[0, turn * SIZE], a)
        T.copy(B[turn * SIZE, 0], b)
        T.gemm(a, b, c)
        T.copy(C[0, 0], before)
    T.copy(c, C[0, 0])
    T.copy(before, C[SIZE, 0])


@T.macro
def reads_the_tensor_before_the_copy(block, A, B, C, a, b, c):
    T.copy(A[0, 0], a)
    T.copy(B[0, 0], b)
    T.gemm(a, b, c)
    T.copy(C[0, 0], C[SIZE, 0])
    T.copy(c, C[0, 0])


@T.macro
def goes_on_from_the_last_sums(block, A, B, C, a, b, c):
    """Filled once: what the outer loop copies must stay in the tile."""
    for half in T.serial(2):
        for turn in T.serial(TURNS):
            T.copy(A[0, turn * SIZE], a)
            T.copy(B[turn * SIZE, 0], b)
            T.gemm(a, b, c)
        T.copy(c, C[half * SIZE, 0])


@T.macro
def is_read_again_behind_the_copy(block, A, B, C, a, b, c):
    for turn in T.Pipelined(TURNS):
        T.copy(A[0, turn * SIZE], a)
        T.copy(B[turn * SIZE, 0], b)
        T.gemm(a, b, c)
    T.copy(c, C[0, 0])
    for i, j in T.Parallel(SIZE, SIZE):
        C[SIZE + i, j] = c[i, j] + c[j, i]


@T.macro
def skips_turns(block, A, B, C, a, b, c):
    """The last turn has no product, so that nothing would be written there."""
    for turn in T.Pipelined(TURNS):
        T.copy(A[0, turn * SIZE], a)
        T.copy(B[turn * SIZE, 0], b)
        if turn <= block:
            T.gemm(a, b, c)
    T.copy(c, C[block * SIZE, 0])


@T.macro
def leaves_the_tensor(block, A, B, C, a, b, c):
    """Only a part of the tile has a place in C."""
    for turn in T.Pipelined(TURNS):
        T.copy(A[0, turn * SIZE], a)
        T.copy(B[turn * SIZE, 0], b)
        T.gemm(a, b, c)
    T.copy(c, C[block * SIZE - SIZE // 2, 8])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("statements", "blocks"),
    [
        (reads_the_tensor_behind_the_product, 1),
        (reads_the_tensor_before_the_copy, 1),
        (goes_on_from_the_last_sums, 1),
        (is_read_again_behind_the_copy, 1),
        (skips_turns, 2),
        (leaves_the_tensor, 3),
    ],
)
def test_somebody_can_tell(statements: Callable, blocks: int, dtype: str) -> None:
    check(make_kernel(statements, blocks), dtype, (TURNS,))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_tile_is_never_touched(dtype: str) -> None:
    """A loop of one turn reads a row of zeros and writes to the tensor."""

    @T.prim_func
    def main(
        A: T.Tensor((SIZE, SIZE), dtype),
        B: T.Tensor((SIZE, SIZE), dtype),
        C: T.Tensor((2 * SIZE, SIZE), DTYPES[dtype][1]),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((SIZE, SIZE), dtype)
            b = T.alloc_shared((SIZE, SIZE), dtype)
            c = T.alloc_fragment((SIZE, SIZE), DTYPES[dtype][1])
            T.clear(c)
            for turn in T.Pipelined(1):
                T.copy(A[0, turn * SIZE], a)
                T.copy(B[turn * SIZE, 0], b)
                T.gemm(a, b, c)
            T.copy(c, C[SIZE, 0])

    check(lambda *_: main, dtype, (1,))
    host = tilewright.compile(main, target="cpu").program.compile_cpu()["host"]
    scopes = dict(re.findall(r'(#alias_scope\d*) = .* description = "(\w+)"', host))
    touched = {scopes[name] for name in re.findall(r"alias_scopes = \[(#alias_scope\d*)\]", host)}
    assert "C" in touched and "c" not in touched


def test_in_place() -> None:
    """A and C are one array, so that C must not be written while A is read."""

    @T.prim_func
    def main(A: T.Tensor((SIZE, SIZE), "float32"), C: T.Tensor((SIZE, SIZE), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((SIZE, 16), "float32")
            b = T.alloc_shared((16, SIZE), "float32")
            last = T.alloc_shared((16, SIZE), "float32")
            c = T.alloc_fragment((SIZE, SIZE), "float32")
            T.clear(c)
            for turn in T.Pipelined(SIZE // 16):
                T.copy(A[0, turn * 16], a)
                T.copy(A[turn * 16, 0], b)
                T.gemm(a, b, c)
                T.copy(A[0, 0], last)
            for i, j in T.Parallel(16, SIZE):
                last[i, j] = last[i, j] * 2
            T.copy(c, C)
            T.copy(last, C[0, 0])

    kernel = tilewright.compile(main, target="cpu")
    x = np.random.default_rng(1).integers(-3, 4, (SIZE, SIZE)).astype(np.float32)
    expected = x @ x
    expected[:16] = 2 * x[:16]
    apart = np.zeros_like(x)
    kernel(x, apart)
    np.testing.assert_array_equal(apart, expected)
    kernel(x, x)
    np.testing.assert_array_equal(x, expected)
