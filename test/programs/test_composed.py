"""Statements that are made of others: transposition, running maxima, questions, small products."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(7).integers(-50, 50, shape).astype(dtype)


@ON_ALL
def test_transpose(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((2, 24, 40), "float32"), B: T.Tensor((2, 40, 24), "float32")):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((2, 24, 40), "float32")
            b = T.alloc_shared((2, 40, 24), "float32")
            T.copy(A, a)
            T.transpose(a, b)
            T.copy(b, B)

    a, b = numbers(2, 24, 40), np.zeros((2, 40, 24), np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a.transpose(0, 2, 1))


def test_transpose_of_other_shapes_is_refused() -> None:
    with pytest.raises(
        tilewright.TilewrightError, match="24 x 40 to 24 x 40: the last two extents"
    ):

        @T.prim_func
        def main(A: T.Tensor((24, 40), "float32")):
            with T.Kernel(1, threads=64):
                a = T.alloc_shared((24, 40), "float32")
                b = T.alloc_shared((24, 40), "float32")
                T.copy(A, a)
                T.transpose(a, b)


@ON_ALL
@pytest.mark.parametrize(
    ("scope", "dim", "reverse"), [("shared", 0, False), ("fragment", 1, False), ("shared", 1, True)]
)
def test_running_maxima(device: str, scope: str, dim: int, reverse: bool) -> None:
    """Into another tile, and in place; the extents are no powers of two."""
    alloc = T.alloc_shared if scope == "shared" else T.alloc_fragment

    @T.prim_func
    def main(A: T.Tensor((12, 37), "int32"), B: T.Tensor((2, 12, 37), "int32")):
        with T.Kernel(1, threads=64):
            a = alloc((12, 37), "int32")
            b = alloc((12, 37), "int32")
            T.copy(A, a)
            T.cummax(a, b, dim=dim, reverse=reverse)
            T.copy(b, B[0, :, :])
            T.cummax(a, dim=dim, reverse=reverse)
            T.copy(a, B[1, :, :])

    a, b = numbers(12, 37, dtype="int32"), np.zeros((2, 12, 37), np.int32)
    run(main, device, a, b)
    ordered = np.flip(a, dim) if reverse else a
    expected = np.maximum.accumulate(ordered, axis=dim)
    expected = np.flip(expected, dim) if reverse else expected
    np.testing.assert_array_equal(b, [expected, expected])


@ON_ALL
def test_questions_about_all_elements(device: str) -> None:
    """Of a row of a global mask and of a tile of numbers, where any number but zero is true."""

    @T.prim_func
    def main(
        M: T.Tensor((4, 8), "bool"), A: T.Tensor((4, 8), "int32"), B: T.Tensor((4, 4), "int32")
    ):
        with T.Kernel(4, threads=32) as bx:
            a = T.alloc_shared((2, 4), "int32")
            T.copy(T.view(A, (4, 2, 4))[bx, :, :], a)
            B[bx, 0] = T.if_then_else(T.any_of(M[bx, :]), 1, 0)
            B[bx, 1] = T.if_then_else(T.all_of(M[bx, :]), 1, 0)
            if T.any_of(a):
                B[bx, 2] = 1
            else:
                B[bx, 2] = 0
            B[bx, 3] = T.if_then_else(T.all_of(a), 1, 0)

    mask = np.zeros((4, 8), bool)
    mask[1] = True
    mask[2, 5] = True
    a = np.where(mask, np.int32(-(1 << 31)), 0).astype(np.int32)
    a[3, 0] = 6
    b = np.full((4, 4), 9, np.int32)
    run(main, device, mask, a, b)
    expected = [mask.any(1), mask.all(1), (a != 0).any(1), (a != 0).all(1)]
    np.testing.assert_array_equal(b, np.transpose(expected).astype(np.int32))


@ON_ALL
def test_products_of_four(device: str) -> None:
    """In each thread's own memory, as dequantised products use it."""

    @T.prim_func
    def main(
        A: T.Tensor((32, 8), "int8"), B: T.Tensor((32, 8), "int8"), C: T.Tensor((32,), "int32")
    ):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            a = T.alloc_local((8,), "int8")
            b = T.alloc_local((8,), "int8")
            c = T.alloc_local((1,), "int32")
            for k in T.serial(8):
                a[k] = A[tx, k]
                b[k] = B[tx, k]
            T.clear(c)
            for k in T.serial(2):
                T.dp4a(a[k * 4], b[k * 4], c[0])
            C[tx] = c[0]

    a, b, c = (
        numbers(32, 8, dtype="int8"),
        numbers(32, 8, dtype="int8")[::-1].copy(),
        np.zeros(32, "int32"),
    )
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, (a.astype(np.int32) * b).sum(1))


COMBINATIONS = {
    "sum": (lambda a, b: a + b, np.add),
    "max": (T.max, np.maximum),
    "min": (lambda a, b: T.min(b, a), np.minimum),
    "bitand": (lambda a, b: a & b, np.bitwise_and),
    "bitor": (lambda a, b: a | b, np.bitwise_or),
    "bitxor": (lambda a, b: a ^ b, np.bitwise_xor),
}


@ON_ALL
def test_reducer_that_stores_its_element_combined(device: str) -> None:
    """`r[0] = combine(r[0], x)` contributes x; what `T.fill` or `T.reducer_init` starts with counts
    once."""

    @T.prim_func
    def main(A: T.Tensor((96,), "int32"), B: T.Tensor((6, 2), "int32")):
        with T.Kernel(1, threads=64):
            for n, (op, (combine, _)) in enumerate(COMBINATIONS.items()):
                first = T.alloc_reducer((1,), "int32", op=op, replication="all")
                second = T.alloc_reducer((1,), "int32", op=op)
                T.fill(first, 5)
                T.reducer_init(second, 7)
                for i in T.Parallel(96):
                    first[0] = combine(first[0], A[i])
                    T.reducer_update(second[0], A[i])
                T.finalize_reducer(first, batch=1)
                T.finalize_reducer(second)
                B[n, 0] = first[0]
                B[n, 1] = second[0]

    a, b = numbers(96, dtype="int32"), np.zeros((6, 2), np.int32)
    run(main, device, a, b)
    expected = [
        [reduce.reduce([5, *a]), reduce.reduce([7, *a])] for _, reduce in COMBINATIONS.values()
    ]
    np.testing.assert_array_equal(b, expected)


@ON_ALL
def test_reduction_into_a_variable(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((2,), "float32")):
        with T.Kernel(1, threads=32):
            a = T.alloc_fragment((64,), "float32")
            total = T.alloc_var("float32")
            largest = T.alloc_var("float32", init=40.0)
            T.copy(A, a)
            T.reduce_sum(a, total, dim=0)
            T.reduce_max(a, largest, dim=0, clear=False)
            B[0] = total
            B[1] = largest

    a, b = np.minimum(numbers(64), 30), np.zeros(2, np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, [a.sum(), 40])


@ON_ALL
def test_copies_of_variables(device: str) -> None:
    """A variable is one element: of a tensor, of a tile, of another variable."""

    @T.prim_func
    def main(A: T.Tensor((8, 4), "float16"), B: T.Tensor((8, 3), "float32")):
        with T.Kernel(8, threads=32) as bx:
            one = T.alloc_var("float32")
            other = T.alloc_var("int32")
            cell = T.alloc_shared((1,), "float32")
            T.copy(A[bx, 1], one)
            T.copy(one, other)
            T.copy(one, B[bx, 0])
            T.copy(other, B[bx, 1])
            T.copy(one, cell)
            T.copy(cell, one)
            T.copy(one, B[bx, 2:3])

    a = np.arange(32, dtype=np.float16).reshape(8, 4) / 2
    b = np.zeros((8, 3), np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, np.stack([a[:, 1], np.trunc(a[:, 1]), a[:, 1]], axis=1))


def test_copy_of_a_tile_to_a_variable_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="a variable is one element, the source"):

        @T.prim_func
        def main(A: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                one = T.alloc_var("float32")
                T.copy(A, one)
