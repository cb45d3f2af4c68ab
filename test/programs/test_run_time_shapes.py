"""Shapes that only a launch knows, in every place where the language allows them."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

M, N = T.dynamic("M"), T.dynamic("N")
ENGINES = ("interp", "cpu", "vgpu:sm_80", "vgpu:sm_90")


def integers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [1, 5, 16])
def test_layout_of_a_tensor_of_run_time_shape(engine: str, rows: int) -> None:
    """The stride of a column is the number of rows, which a launch brings. (GPU code took it for
    1, CPU code refused.)"""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=32):
            T.annotate_layout({A: T.Layout((M, N), lambda i, j: [j, i])})
            T.copy(A, B)

    a, b = integers(rows, 6), np.zeros((rows, 6), np.float32)
    tilewright.compile(main, device=engine)(a, b)
    np.testing.assert_array_equal(b, a.reshape(6, rows).T)


@pytest.mark.parametrize("engine", ENGINES)
def test_swizzle_of_a_tensor_of_run_time_rows(engine: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((M, 8), "float32"), B: T.Tensor((M, 8), "float32")):
        with T.Kernel(1, threads=32):
            T.annotate_layout({A: T.Layout((M, 8), lambda i, j: [i, j ^ (i % 8)])})
            T.copy(A, B)

    a, b = integers(11, 8), np.zeros((11, 8), np.float32)
    tilewright.compile(main, device=engine)(a, b)
    i, j = np.indices((11, 8))
    np.testing.assert_array_equal(b, a[i, j ^ (i % 8)])


@pytest.mark.parametrize("engine", ["cpu", "vgpu:sm_80"])
def test_a_layout_without_a_formula_is_refused(engine: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=32):
            T.annotate_layout({A: T.Layout((M, N), lambda i, j: [i, i ^ j])})
            T.copy(A, B)

    with pytest.raises(tilewright.TilewrightError, match="do not follow from the extents"):
        tilewright.compile(main, device=engine)(integers(4, 4), integers(4, 4))


@pytest.mark.parametrize("engine", ENGINES)
def test_view_with_several_run_time_extents(engine: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((M, N, 4), "float32"), B: T.Tensor((N, M * 4), "float32")):
        with T.Kernel(1, threads=32):
            V = T.reshape(A, (N, M * 4))
            for i, j in T.Parallel(N, M * 4):
                B[i, j] = V[i, j] + 1

    a, b = integers(3, 5, 4), np.zeros((5, 12), np.float32)
    tilewright.compile(main, device=engine)(a, b)
    np.testing.assert_array_equal(b, a.reshape(5, 12) + 1)


@pytest.mark.parametrize("engine", ["interp", "cpu"])
def test_a_view_of_other_size_is_an_error(engine: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=32):
            V = T.reshape(A, (N, N))
            T.copy(V[0, 0], B)

    kernel = tilewright.compile(main, device=engine)
    with pytest.raises(tilewright.TilewrightError, match="does not have its"):
        kernel(integers(2, 3), integers(2, 3))


@pytest.mark.parametrize("engine", ["interp", "cpu"])
def test_statement_that_reads_and_writes_parts_of_one_tensor(engine: str) -> None:
    """All is read before the first element is written."""

    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), n: T.int32):
        with T.Kernel(1, threads=32):
            T.copy(A[0:n, 0:N], A[1 : n + 1, 0:N])
            T.copy(A[0 : M - 1, 0:N], A[1:M, 0:N])

    kernel = tilewright.compile(main, device=engine)
    for rows in (2, 6, 40):
        a = integers(rows, 7)
        expected = a.copy()
        expected[1:rows] = expected[0 : rows - 1].copy()
        expected[1:rows] = expected[0 : rows - 1].copy()
        kernel(a, rows - 1)
        np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("engine", ["interp", "cpu"])
def test_print_of_a_tensor_of_run_time_shape(engine: str, capfd) -> None:
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32")):
        with T.Kernel(1, threads=32):
            T.print(A, msg="A is")

    tilewright.compile(main, device=engine)(integers(2, 3))
    assert "A is [[0, 1, 2], [3, 4, 5]]" in capfd.readouterr().out


@pytest.mark.parametrize("engine", ["interp", "cpu"])
@pytest.mark.parametrize("statement", ["elements", "tile"])
def test_atomic_update_of_elements_whose_bytes_lie_apart(engine: str, statement: str) -> None:
    """A view of pairs of int32 as int64, of a tensor whose layout tears the pairs apart: blocks
    update at the same time."""

    @T.prim_func
    def by_elements(A: T.Tensor((8, 4), "int32")):
        with T.Kernel(64, threads=32):
            T.annotate_layout({A: T.Layout((8, 4), lambda i, j: [j, i])})
            V = T.view(A, (16,), "int64")
            for i in T.Parallel(16):
                T.atomic_add(V[i], T.int64(2**31 + 7))

    @T.prim_func
    def by_tiles(A: T.Tensor((8, 4), "int32")):
        with T.Kernel(64, threads=32):
            T.annotate_layout({A: T.Layout((8, 4), lambda i, j: [j, i])})
            V = T.view(A, (16,), "int64")
            tile = T.alloc_shared((16,), "int64")
            T.fill(tile, 2**31 + 7)
            T.atomic_add(V[0:16], tile)

    main = by_elements if statement == "elements" else by_tiles
    a = np.zeros((8, 4), np.int32)
    tilewright.compile(main, device=engine)(a)
    total = np.full(16, 64 * (2**31 + 7), np.int64).view(np.int32).reshape(8, 4)
    np.testing.assert_array_equal(a.reshape(4, 8).T, total)
