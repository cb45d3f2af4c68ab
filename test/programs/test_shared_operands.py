"""Tiles that several gemms read, which the CPU packs once, behind the copy that fills them.

A packed operand must always be what the tile holds, and a tile that exists in packed form only must
not be missed. Small integers: every engine owes the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

SIZE, TURNS = 64, 3
FLAGS = re.findall(r"\w+", Path("/proc/cpuinfo").read_text())
DTYPES = {
    "float32": (np.float32, "float32"),
    "float16": (np.float16, "float32"),
    "bfloat16": (ml_dtypes.bfloat16, "float32"),
    "int8": (np.int8, "int32"),
}
SHAPE = (TURNS + 1, SIZE, 2, SIZE)  # rows lie apart


def make_kernel(statements: Callable, dtype: str, sums: str):
    """C = what the statements sum up in `c`, with the tiles `a` and `b` to copy A and B to."""

    @T.prim_func
    def main(A: T.Tensor(SHAPE, dtype), B: T.Tensor(SHAPE, dtype), C: T.Tensor((SIZE, SIZE), sums)):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((SIZE, SIZE), dtype)
            b = T.alloc_shared((SIZE, SIZE), dtype)
            c = T.alloc_fragment((SIZE, SIZE), sums)
            T.clear(c)
            statements(A, B, a, b, c)
            T.copy(c, C)

    return main


def check(statements: Callable, dtype: str, scale: float = 1) -> None:
    """The kernel of the statements on two tensors, on the interpreter and the CPU."""
    array_type, sums = DTYPES[dtype]
    rng = np.random.default_rng(4)
    a, b = ((rng.integers(-3, 4, SHAPE) * scale).astype(array_type) for _ in range(2))
    results = {}
    for engine in ("interp", "cpu"):
        results[engine] = np.zeros((SIZE, SIZE), sums)
        kernel = tilewright.compile(make_kernel(statements, dtype, sums), target=engine)
        kernel(a.copy(), b.copy(), results[engine])
    assert results["interp"].any()
    np.testing.assert_array_equal(results["cpu"], results["interp"])


@T.macro
def in_all_forms(A, B, a, b, c):
    """`b` is read as it is, transposed, on the left, and twice in one form."""
    T.copy(A[0, :, 1, :], a)
    for turn in T.Pipelined(TURNS, num_stages=2):
        T.copy(B[turn, :, 1, :], b)
        T.gemm(a, b, c)
        T.gemm(a, b, c, transpose_B=True)
        T.gemm(a, b, c, transpose_A=True, transpose_B=True)
        T.gemm(b, a, c, transpose_A=True)
        T.gemm(a, b, c)


@T.macro
def beside_other_readers(A, B, a, b, c):
    """An element-wise loop reads the tile too, so it must be there."""
    T.copy(A[0, :, 0, :], a)
    for turn in T.Pipelined(TURNS, num_stages=1):
        T.copy(B[turn, :, 0, :], b)
        T.gemm(a, b, c, transpose_B=True)
        for i, j in T.Parallel(SIZE, SIZE):
            c[i, j] += T.cast(b[j, i], c.dtype)


@T.macro
def filled_twice(A, B, a, b, c):
    """The second copy makes what the first one was packed into stale."""
    T.copy(A[0, :, 0, :], a)
    T.copy(B[0, :, 0, :], b)
    for turn in T.serial(TURNS):
        T.gemm(a, b, c, transpose_B=True)
        if turn == 1:
            T.copy(B[turn, :, 1, :], b)


@T.macro
def read_a_turn_later(A, B, a, b, c):
    """The gemm of a turn stands before the copy and reads what the turn before it copied."""
    T.copy(A[0, :, 0, :], a)
    for turn in T.serial(TURNS):
        if turn > 0:
            T.gemm(a, b, c, transpose_B=True)
        T.copy(B[turn, :, 1, :], b)
        T.gemm(a, b, c)


@T.macro
def beyond_the_edge(A, B, a, b, c):
    """Half of each copy lies outside and is zero."""
    T.copy(A[0, :, 0, :], a)
    for turn in T.Pipelined(TURNS, num_stages=1):
        T.copy(B[turn, turn * 32 : turn * 32 + SIZE, 0, 8 : 8 + SIZE], b)
        T.gemm(a, b, c, transpose_B=True)


@T.macro
def as_they_are(A, B, a, b, c):
    """Each tile is read once in a turn, as it is: float32 straight from the tensors."""
    for turn in T.Pipelined(TURNS, num_stages=2):
        T.copy(A[turn, :, 1, :], a)
        T.copy(B[turn, :, 0, :], b)
        T.gemm(a, b, c)
        T.gemm(a, b, c, transpose_A=True)


@T.macro
def tensor_written_between(A, B, a, b, c):
    """The tensor changes between the copy and the gemm; the tile does not."""
    for turn in T.Pipelined(TURNS, num_stages=1):
        T.copy(A[turn, :, 1, :], a)
        T.copy(B[turn, :, 0, :], b)
        for i, j in T.Parallel(SIZE, SIZE):
            B[turn, i, 0, j] = T.cast(1, B.dtype)
        T.gemm(a, b, c)
        T.gemm(b, a, c)


@T.macro
def copied_from_tiles(A, B, a, b, c):
    """Copies of tiles: of one that stays, and of one that changes before the gemm."""
    stays = T.alloc_shared((SIZE, SIZE), A.dtype)
    changes = T.alloc_shared((SIZE, SIZE), B.dtype)
    for turn in T.Pipelined(TURNS, num_stages=1):
        for i, j in T.Parallel(SIZE, SIZE):
            stays[i, j] = A[turn, i, 0, j]
            changes[i, j] = B[turn, i, 0, j]
        T.gemm(stays, changes, c)
        T.copy(stays, a)  # between gemms, so that it is not a part of a loop
        T.gemm(a, changes, c)
        T.copy(changes, b)
        T.gemm(stays, b, c)
        for i, j in T.Parallel(SIZE, SIZE):
            changes[i, j] = T.cast(1, B.dtype)
        T.gemm(a, b, c)
        T.gemm(b, a, c)


PROGRAMS = [
    copied_from_tiles,
    in_all_forms,
    beside_other_readers,
    filled_twice,
    read_a_turn_later,
    beyond_the_edge,
    as_they_are,
    tensor_written_between,
]


@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize("statements", PROGRAMS, ids=lambda macro: macro.__name__)
def test_operands_are_what_the_tile_holds(statements: Callable, dtype: str) -> None:
    check(statements, dtype)


def touched_buffers(kernel) -> set[str]:
    """The names of those that the CPU's code reads or writes."""
    host = kernel.program.compile_cpu()["host"]
    scopes = dict(re.findall(r'(#alias_scope\d*) = .* description = "(\w+)"', host))
    return {scopes[name] for name in re.findall(r"alias_scopes = \[(#alias_scope\d*)\]", host)}


def squares(columns: int, start: int, dtype: str):
    """Adds a * a and a * a^T of two squares `a` of a tensor, which begin at any element."""

    @T.prim_func
    def main(A: T.Tensor((SIZE, columns), dtype), C: T.Tensor((SIZE, SIZE), DTYPES[dtype][1])):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((SIZE, SIZE), dtype)
            c = T.alloc_fragment((SIZE, SIZE), DTYPES[dtype][1])
            T.clear(c)
            for turn in T.Pipelined(2):
                T.copy(A[0:SIZE, turn * SIZE + start : turn * SIZE + start + SIZE], a)
                T.gemm(a, a, c)
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C)

    return main


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (1, 1), (2, 1), (3, 3), (4, 2)])
@pytest.mark.parametrize(
    ("dtype", "scale"), [(dtype, 1) for dtype in DTYPES] + [("bfloat16", 2.0**-70)]
)
def test_words_that_begin_at_any_element(dtype: str, place: tuple[int, int], scale: float) -> None:
    """Rows of lengths that words divide or not, from even and odd elements on."""
    extra, start = place
    whole = np.random.default_rng(6).integers(-3, 4, (SIZE, 2 * SIZE + extra)) * scale
    parts = [whole[:, at : at + SIZE] for at in (start, SIZE + start)]
    got = np.zeros((SIZE, SIZE), DTYPES[dtype][1])
    kernel = tilewright.compile(squares(2 * SIZE + extra, start, dtype), target="cpu")
    kernel(whole.astype(DTYPES[dtype][0]), got)
    exact = sum(part @ part + part @ part.T for part in parts)
    assert np.any(exact)
    np.testing.assert_array_equal(got, exact.astype(got.dtype))


@pytest.mark.skipif("avx512_bf16" not in FLAGS, reason="the host has no AVX512-BF16")
def test_words_are_read_from_the_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product reads what the tile would be, others what is packed: there is no tile."""
    monkeypatch.delenv("TILEWRIGHT_CPU", raising=False)
    kernel = tilewright.compile(squares(2 * SIZE + 2, 1, "bfloat16"), target="cpu")
    touched = touched_buffers(kernel)
    assert "A" in touched and "a" not in touched


def test_a_gemm_writes_what_its_operand_is_a_copy_of() -> None:
    """Three times c = a + c * c, where the operand is a copy of c as it was."""

    @T.prim_func
    def main(A: T.Tensor((SIZE, SIZE), "float32"), C: T.Tensor((SIZE, SIZE), "float32")):
        with T.Kernel(1, threads=128):
            left = T.alloc_shared((SIZE, SIZE), "float32")
            c = T.alloc_shared((SIZE, SIZE), "float32")
            T.copy(A, c)
            for _turn in T.serial(3):
                T.copy(c, left)
                T.gemm(left, left, c)
            T.copy(c, C)

    given = np.diag(np.arange(SIZE) % 4).astype(np.float32)
    given[1:, 0] = given[0, 0] = 1  # all rows read the first one, which is written before them
    got, exact = np.zeros_like(given), given
    tilewright.compile(main, target="cpu")(given, got)
    for _turn in range(3):
        exact = exact + exact @ exact
    np.testing.assert_array_equal(got, exact)


def test_a_tile_is_not_copied_for_a_product_that_reads_it_as_it_is() -> None:
    kernel = tilewright.compile(make_kernel(copied_from_tiles, "float32", "float32"), target="cpu")
    touched = touched_buffers(kernel)
    assert {"stays", "changes", "b"} <= touched and "a" not in touched


def test_tile_keeps_what_a_result_in_the_same_memory_overwrites() -> None:
    """The caller hands in one array twice; it is written between copy and gemm."""

    @T.prim_func
    def main(A: T.Tensor((SIZE, SIZE), "float32"), C: T.Tensor((SIZE, SIZE), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((SIZE, SIZE), "float32")
            c = T.alloc_fragment((SIZE, SIZE), "float32")
            T.clear(c)
            T.copy(A, a)
            for i, j in T.Parallel(SIZE, SIZE):
                C[i, j] = 7
            T.gemm(a, a, c)
            T.copy(c, C)

    given = np.random.default_rng(5).integers(-3, 4, (SIZE, SIZE)).astype(np.float32)
    both = given.copy()
    tilewright.compile(main, target="cpu")(both, both)
    np.testing.assert_array_equal(both, given @ given)


@pytest.mark.parametrize("statements", PROGRAMS, ids=lambda macro: macro.__name__)
def test_subnormal_bfloat16_is_found_in_packed_tiles(statements: Callable) -> None:
    check(statements, "bfloat16", scale=2.0**-70)
