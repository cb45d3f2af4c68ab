"""Tensors by their address: `T.ptr` and `T.make_tensor`."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

G, N = 3, 48


@ON_ALL
def test_rows_of_a_table(device: str) -> None:
    """Rows are read by the block's index and by a number of the run, and others are written."""

    @T.prim_func
    def main(
        sources: T.Tensor((G,), T.ptr),
        order: T.Tensor((G,), "int32"),
        targets: T.Tensor((G,), T.ptr),
        out: T.Tensor((G, N), "float32"),
    ):
        with T.Kernel(G, threads=32) as bx:
            src = T.make_tensor(sources[bx], (N,), "float32")
            other = T.make_tensor(sources[order[bx]], (N,), "float32")
            dst = T.make_tensor(targets[bx], (2, N), "int32")
            tile = T.alloc_shared((N,), "float32")
            T.copy(src, tile)
            for i in T.Parallel(N):
                out[bx, i] = tile[i] + other[i] * 10
            for i in T.Parallel(N):
                dst[1, i] = T.cast(tile[i], "int32") + 1

    rng = np.random.default_rng(4)
    sources = [rng.integers(-9, 9, N).astype(np.float32) for _ in range(G)]
    targets = [np.full((2, N), -1, np.int32) for _ in range(G)]
    order, out = np.array([2, 0, 1], np.int32), np.zeros((G, N), np.float32)
    tables = [np.array([row.ctypes.data for row in rows], np.int64) for rows in (sources, targets)]
    run(main, device, tables[0], order, tables[1], out)
    for number, target in enumerate(targets):
        np.testing.assert_array_equal(out[number], sources[number] + sources[order[number]] * 10)
        np.testing.assert_array_equal(target[0], -1)
        np.testing.assert_array_equal(target[1], sources[number] + 1)


@ON_ALL
def test_parameter_that_is_an_address(device: str) -> None:
    """Its extents are numbers of the call; a tensor or its address may be passed."""

    @T.prim_func
    def main(a: T.ptr, b: T.ptr, m: T.int32, n: T.int32):
        A = T.make_tensor(a, (m, n), "float32")
        B = T.make_tensor(b, (n, m), "float32")
        with T.Kernel(2, threads=32) as bx:
            tile = T.alloc_shared((8, 16), "float32")
            T.copy(A[bx * 8, 0], tile)
            for i, j in T.Parallel(8, 16):
                if bx * 8 + i < m and j < n:
                    B[j, bx * 8 + i] = tile[i, j]

    a, b = np.arange(180, dtype=np.float32).reshape(12, 15), np.zeros((15, 12), np.float32)
    kernel = tilewright.compile(main, device=device)
    kernel(a, b, 12, 15)
    np.testing.assert_array_equal(b, a.T)
    b[:] = 0
    kernel(a.ctypes.data, b.ctypes.data, 12, 15)
    np.testing.assert_array_equal(b, a.T)


def test_memory_that_is_written_twice() -> None:
    @T.prim_func
    def main(table: T.Tensor((2,), T.ptr), x: T.Tensor((8,), "float32")):
        with T.Kernel(2, threads=32) as bx:
            row = T.make_tensor(table[bx], (8,), "float32")
            for i in T.Parallel(8):
                row[i] = x[i]

    kernel = tilewright.compile(main, device="cpu")
    row, x = np.zeros(8, np.float32), np.ones(8, np.float32)
    for addresses in ([row.ctypes.data] * 2, [row.ctypes.data, x.ctypes.data]):
        with pytest.raises(tilewright.TilewrightError, match="lead to the same memory"):
            kernel(np.array(addresses, np.int64), x)
    with pytest.raises(tilewright.TilewrightError, match="null address"):
        kernel(np.array([0, row.ctypes.data], np.int64), x)


def test_address_from_elsewhere_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="takes a T.ptr parameter or an entry"):

        @T.prim_func
        def main(table: T.Tensor((2,), "int64"), x: T.Tensor((8,), "float32")):
            with T.Kernel(2, threads=32) as bx:
                row = T.make_tensor(table[bx], (8,), "float32")
                x[0] = row[0]


def test_addresses_of_an_eager_function() -> None:
    """The signature declares them, sizes are Python's."""

    @tilewright.jit(device="cpu")
    def double(a: T.ptr, b: T.ptr, m: int, n: int, dtype: T.dtype):
        A = T.make_tensor(a, (m, n), dtype)
        B = T.make_tensor(b, (m, n), dtype)
        with T.Kernel(m, threads=32) as bx:
            for j in T.Parallel(n):
                B[bx, j] = A[bx, j] * 2

    for shape, dtype in (((3, 5), np.float32), ((4, 2), np.int32)):
        a = np.arange(shape[0] * shape[1], dtype=dtype).reshape(shape)
        b, again = np.zeros_like(a), np.zeros_like(a)
        double(a.ctypes.data, b.ctypes.data, *shape, T.dtype(dtype))
        double(a.ctypes.data, again.ctypes.data, *shape, T.dtype(dtype))
        np.testing.assert_array_equal(b, 2 * a)
        np.testing.assert_array_equal(again, 2 * a)
