"""Programs that grow: a number says how many statements, accesses or terms they have."""

from __future__ import annotations

import random
from collections.abc import Callable

import tilewright.language as T


def accesses(count: int) -> object:
    """One statement that adds that many elements."""

    def total(source, i, j):
        value = source[i, j]
        for k in range(1, count):
            value = value + source[i, j + k]
        return value

    @T.prim_func
    def main(A: T.Tensor((64, count + 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            for i, j in T.Parallel(64, 64):
                B[i, j] = total(A, i, j)

    return main


def polynomial(terms: int) -> object:
    """One statement with a long chain: each term needs the one before it."""

    def evaluate(x):
        value = x
        for k in range(1, terms):
            value = value * 0.5 + float(k % 7)
        return value

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            for i, j in T.Parallel(64, 64):
                B[i, j] = evaluate(A[i, j])

    return main


def tree(terms: int) -> object:
    """One statement with a balanced sum of that many terms, which all read one element."""

    def add(source, i, j, first, last):
        if last - first == 1:
            return source[i, j] * float(first)
        middle = (first + last) // 2
        return add(source, i, j, first, middle) + add(source, i, j, middle, last)

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            for i, j in T.Parallel(64, 64):
                B[i, j] = add(A, i, j, 0, terms)

    return main


def kinds(statements: int, seed: int = 0) -> list[int]:
    """Which of the three statements of `shuffled` comes when."""
    draw = random.Random(seed)
    return [draw.randrange(3) for _ in range(statements)]


def shuffled(
    statements: int, extent: int = 64, dtype: str = "float32", blocks: int = 1, seed: int = 0
) -> object:
    """That many statements on three square tiles; each subtracts one from another, transposed."""
    order = kinds(statements, seed)

    @T.macro
    def update(to, source):
        for i, j in T.Parallel(extent, extent):
            to[i, j] = source[j, i] - to[i, j]

    @T.macro
    def work(x, y, z, first, last):
        if last - first > 1:
            work(x, y, z, first, (first + last) // 2)
            work(x, y, z, (first + last) // 2, last)
        elif order[first] == 0:
            update(x, y)
        elif order[first] == 1:
            update(y, z)
        else:
            update(z, x)

    @T.prim_func
    def main(A: T.Tensor((extent * blocks, extent), dtype)):
        with T.Kernel(blocks, threads=128) as block:
            x = T.alloc_shared((extent, extent), dtype)
            y = T.alloc_shared((extent, extent), dtype)
            z = T.alloc_shared((extent, extent), dtype)
            T.copy(A[block * extent, 0], x)
            T.copy(A[block * extent, 0], y)
            T.fill(z, 1)
            work(x, y, z, 0, statements)
            T.copy(x, A[block * extent, 0])

    return main


def padded(padding: int) -> object:
    """An im2col with that padding: numbers grow, statements do not."""

    @T.prim_func
    def main(A: T.Tensor((1, 8, 8, 32), "float16"), B: T.Tensor((64, 32), "float16")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((64, 32), "float16")
            T.c2d_im2col(A, tile, 0, 0, 3, 1, 1, padding)
            T.copy(tile, B)

    return main


#: Kinds of programs by name, for measurements and for tests of their growth.
PROGRAMS: dict[str, Callable[[int], object]] = {
    "accesses in a statement": accesses,
    "terms in a chain": polynomial,
    "terms in a tree": tree,
    "shuffled statements": shuffled,
    "padding of im2col": padded,
}
