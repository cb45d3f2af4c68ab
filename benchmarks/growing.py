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


@T.macro
def in_turn(statement, tiles, first, last):
    """Writes `statement(tiles, k)` for each k; by halves, so that no macro is nested deep."""
    if last - first > 1:
        in_turn(statement, tiles, first, (first + last) // 2)
        in_turn(statement, tiles, (first + last) // 2, last)
    elif last > first:
        statement(tiles, first)


def reductions(count: int) -> object:
    """Reductions of one fragment along both dimensions in turn; each result changes it."""

    @T.macro
    def reduce(tiles, k):
        x, row, column = tiles
        if k % 2 == 0:
            T.reduce_sum(x, row, dim=1)
            for i, j in T.Parallel(64, 64):
                x[i, j] = x[i, j] - row[i]
        else:
            T.reduce_sum(x, column, dim=0)
            for i, j in T.Parallel(64, 64):
                x[i, j] = x[i, j] - column[j]

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_fragment((64, 64), "float32")
            row = T.alloc_fragment((64,), "float32")
            column = T.alloc_fragment((64,), "float32")
            T.copy(A, x)
            in_turn(reduce, (x, row, column), 0, count)
            T.copy(x, A)

    return main


def shared_reductions(count: int) -> object:
    """Reductions of one shared tile along both dimensions in turn, and their sum."""

    @T.macro
    def reduce(tiles, k):
        x, part, total = tiles
        T.reduce_sum(x, part, dim=1 - k % 2)
        for i in T.Parallel(64):
            total[i] = total[i] * 0.5 + part[i]

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=128):
            x = T.alloc_shared((64, 64), "float32")
            part = T.alloc_fragment((64,), "float32")
            total = T.alloc_fragment((64,), "float32")
            T.copy(A, x)
            T.clear(total)
            in_turn(reduce, (x, part, total), 0, count)
            T.copy(total, B)

    return main


def branches(count: int) -> object:
    """One loop with that many branches in a row, each on data."""

    @T.macro
    def branch(tiles, k):
        A, flags, n = tiles
        if flags[n] == k:
            for i in T.Parallel(128):
                A[i] = A[i] * 2.0 + float(k % 5)

    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), flags: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=128):
            for n in T.serial(8):
                in_turn(branch, (A, flags, n), 0, count)

    return main


def atomics(count: int) -> object:
    """One loop with that many atomic updates."""

    @T.macro
    def update(tiles, k):
        A, B, i = tiles
        T.atomic_add(B[(i + k) % 256], A[i] * float(k % 3))

    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), B: T.Tensor((256,), "float32")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(128):
                in_turn(update, (A, B, i), 0, count)

    return main


def choices(count: int) -> object:
    """One statement with a chain of choices between two values."""

    def choose(x):
        value = x
        for k in range(count):
            value = T.if_then_else(x > float(k), value + 1.0, value)
        return value

    @T.prim_func
    def main(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            for i, j in T.Parallel(64, 64):
                B[i, j] = choose(A[i, j])

    return main


def gemms(count: int) -> object:
    """That many products of two tiles, one after the other."""

    @T.macro
    def multiply(tiles, k):
        a, b, c = tiles
        T.gemm(a, b, c)

    @T.prim_func
    def main(A: T.Tensor((64, 32), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            for i, j in T.Parallel(32, 64):
                b[i, j] = a[j, i]
            T.clear(c)
            in_turn(multiply, (a, b, c), 0, count)
            T.copy(c, C)

    return main


def pipelines(count: int) -> object:
    """That many pipelined loops of products, one after the other."""

    @T.macro
    def accumulate(tiles, k):
        A, B, a, b, c = tiles
        for n in T.Pipelined(4, num_stages=2):
            T.copy(A[0, n * 32], a)
            T.copy(B[n * 32, 0], b)
            T.gemm(a, b, c)

    @T.prim_func
    def main(
        A: T.Tensor((64, 128), "float16"),
        B: T.Tensor((128, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            in_turn(accumulate, (A, B, a, b, c), 0, count)
            T.copy(c, C)

    return main


#: Kinds of programs by name, for measurements and for tests of their growth.
PROGRAMS: dict[str, Callable[[int], object]] = {
    "accesses in a statement": accesses,
    "terms in a chain": polynomial,
    "terms in a tree": tree,
    "shuffled statements": shuffled,
    "padding of im2col": padded,
    "reductions along both dimensions": reductions,
    "reductions of a shared tile": shared_reductions,
    "branches in a loop": branches,
    "atomics in a loop": atomics,
    "choices in a chain": choices,
    "products": gemms,
    "pipelined loops": pipelines,
}
