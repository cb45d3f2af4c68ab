"""Numbers of four bits: packed in global tensors, rounded where they are stored."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

NAMES = pytest.mark.parametrize("name", ["float4_e2m1fn", "int4", "uint4"])
M, N, BLOCK_M, BLOCK_N = 16, 64, 8, 32

#: The value of each code.
VALUES = {
    "float4_e2m1fn": [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6],
    "int4": [*range(8), *range(-8, 0)],
    "uint4": list(range(16)),
}


def make_input(name: str) -> np.ndarray:
    """Values inside and outside the range; for floats also ties, infinities and NaN."""
    values = (np.random.default_rng(7).standard_normal((M, N)) * 5).astype(np.float32)
    if name != "float4_e2m1fn":
        return np.round(values * 2).astype(np.float32)
    edges = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 5.01, 7, np.inf, 1e-9, 0.0, 0.2499]
    values[0, : 2 * len(edges)] = [*edges, *(-edge for edge in edges)]
    return values


def encode(values: np.ndarray, name: str) -> np.ndarray:
    """The codes of `values`, by ml_dtypes and by the integers' low bits."""
    if name == "float4_e2m1fn":
        return values.astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    return values.astype(np.int64).astype(np.uint8) & 15


def pack(codes: np.ndarray) -> np.ndarray:
    return codes[:, ::2] | (codes[:, 1::2] << 4)


def unpack(packed: np.ndarray) -> np.ndarray:
    return np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)


@NAMES
@ON_ALL
def test_stores_round_and_copies_pack(device: str, name: str) -> None:
    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), name)):
        with T.Kernel(M // BLOCK_M, N // BLOCK_N, threads=64) as (bx, by):
            tile = T.alloc_shared((BLOCK_M, BLOCK_N), name)
            for i, j in T.Parallel(BLOCK_M, BLOCK_N):
                tile[i, j] = X[bx * BLOCK_M + i, by * BLOCK_N + j]
            T.copy(tile, Y[bx * BLOCK_M, by * BLOCK_N])

    values = make_input(name)
    packed = np.zeros((M, N // 2), np.uint8)
    run(main, device, values, packed)
    np.testing.assert_array_equal(unpack(packed), encode(values, name))


@NAMES
@ON_ALL
def test_every_code_is_read(device: str, name: str) -> None:
    """By T.copy of a region, and element by element."""

    @T.prim_func
    def main(X: T.Tensor((M, N), name), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M // BLOCK_M, threads=64) as bx:
            tile = T.alloc_fragment((BLOCK_M, BLOCK_N), name)
            T.copy(X[bx * BLOCK_M : (bx + 1) * BLOCK_M, 0:BLOCK_N], tile)
            for i, j in T.Parallel(BLOCK_M, BLOCK_N):
                Y[bx * BLOCK_M + i, j] = T.float32(tile[i, j]) * 2.0
            for i, j in T.Parallel(BLOCK_M, N - BLOCK_N):
                here = X[bx * BLOCK_M + i, BLOCK_N + j]
                Y[bx * BLOCK_M + i, BLOCK_N + j] = T.cast(here, "float32") * 2.0

    codes = np.random.default_rng(3).integers(0, 16, (M, N)).astype(np.uint8)
    codes[0, :16] = range(16)
    result = np.zeros((M, N), np.float32)
    run(main, device, pack(codes).view(np.int8), result)
    np.testing.assert_array_equal(result, np.array(VALUES[name], np.float32)[codes] * 2)


@ON_ALL
def test_tile_statements_read_them(device: str) -> None:
    """A gemm, a reduction, a fill that rounds and a reshape."""

    @T.prim_func
    def main(
        A: T.Tensor((32, 64), "float4_e2m1fn"),
        B: T.Tensor((64, 32), "float4_e2m1fn"),
        C: T.Tensor((32, 32), "float32"),
        S: T.Tensor((32, 2), "float32"),
        F: T.Tensor((4,), "float32"),
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((32, 64), "float4_e2m1fn")
            b = T.alloc_shared((64, 32), "float4_e2m1fn")
            c = T.alloc_fragment((32, 32), "float32")
            s = T.alloc_fragment((32, 2), "float32")
            f = T.alloc_shared((4,), "float4_e2m1fn")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, clear_accum=True)
            T.copy(c, C)
            w = T.alloc_fragment((32, 64), "float4_e2m1fn")
            T.copy(a, w)
            T.reduce_absmax(T.reshape(w, [32, 2, 32]), s, dim=2)
            T.copy(s, S)
            T.fill(f, 2.6)
            for i in T.Parallel(4):
                F[i] = T.float32(f[i])

    rng = np.random.default_rng(5)
    codes = [rng.integers(0, 16, (32, 64)), rng.integers(0, 16, (64, 32))]
    a, b = (np.array(VALUES["float4_e2m1fn"], np.float32)[part] for part in codes)
    c, s, f = np.zeros((32, 32), np.float32), np.zeros((32, 2), np.float32), np.zeros(4, np.float32)
    run(main, device, *(pack(part.astype(np.uint8)) for part in codes), c, s, f)
    np.testing.assert_array_equal(c, a @ b)
    np.testing.assert_array_equal(s, np.abs(a).reshape(32, 2, 32).max(2))
    np.testing.assert_array_equal(f, 3.0)


@ON_ALL
def test_rows_at_the_edge(device: str) -> None:
    """Writes beyond the tensor are dropped, reads give 0."""

    @T.prim_func
    def main(X: T.Tensor((10, 24), "int4"), Y: T.Tensor((10, 24), "int4")):
        with T.Kernel(2, 2, threads=32) as (bx, by):
            tile = T.alloc_shared((8, 16), "int4")
            T.copy(X[bx * 8, by * 16], tile)
            for i, j in T.Parallel(8, 16):
                tile[i, j] = tile[i, j] + 1
            T.copy(tile, Y[bx * 8, by * 16])

    codes = np.random.default_rng(1).integers(0, 16, (10, 24)).astype(np.uint8)
    result = np.zeros((10, 12), np.uint8)
    kernel = tilewright.compile(main, device=device)
    kernel(pack(codes), result)
    assert {finding["kind"] for finding in kernel.findings} <= {"out_of_bounds"}  # notes
    np.testing.assert_array_equal(unpack(result), (codes + 1) & 15)


def test_host_passes_bytes_and_gets_bytes() -> None:
    @tilewright.jit(out_idx=[1])
    def factory(n: int) -> Any:
        @T.prim_func
        def main(X: T.Tensor((n,), "float32"), Y: T.Tensor((n,), "uint4")):
            with T.Kernel(1, threads=32):
                tile = T.alloc_shared((n,), "uint4")
                T.copy(X, tile)
                T.copy(tile, Y)

        return main

    result = factory(32)(np.arange(32, dtype=np.float32))
    assert (result.dtype, result.shape) == (np.uint8, (16,))
    np.testing.assert_array_equal(unpack(result[None])[0], np.arange(32) & 15)


@ON_ALL
def test_an_eager_function_returns_bytes(device: str) -> None:
    """Found with TileLang's example of DeepSeek's activations in four bits."""

    @tilewright.jit(device=device)
    def quantize(X):
        n = T.const("n")
        X: T.Tensor((n,), "float32")
        Y = T.empty((n,), "float4_e2m1fn")
        sums = T.empty((n // 16,), "float32")
        with T.Kernel(n // 16, threads=32) as bx:
            tile = T.alloc_shared((16,), "float4_e2m1fn")
            total = T.alloc_fragment((1,), "float32")
            part = T.alloc_fragment((1, 16), "float32")
            T.copy(X[bx * 16], part[0, :])
            T.reduce_sum(part, total, dim=1)
            T.copy(X[bx * 16], tile)
            T.copy(tile, Y[bx * 16])
            sums[bx] = total[0]
        return Y, sums

    x = make_input("float4_e2m1fn")[1].copy()
    packed, sums = quantize(x)
    assert (packed.dtype.itemsize, packed.shape) == (1, (N // 2,))
    codes = unpack(packed.view(np.uint8)[None])[0]
    np.testing.assert_array_equal(codes, encode(x, "float4_e2m1fn"))
    np.testing.assert_allclose(sums, x.reshape(-1, 16).sum(1), rtol=1e-5, atol=1e-5)


def test_half_a_byte_is_not_written() -> None:
    with pytest.raises(tilewright.TilewrightError, match="one of them cannot be written alone"):

        @T.prim_func
        def element(Y: T.Tensor((64,), "int4")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(64):
                    Y[i] = 1

    with pytest.raises(tilewright.TilewrightError, match="begins in the middle of a byte"):

        @T.prim_func
        def odd(Y: T.Tensor((64,), "int4")):
            with T.Kernel(1, threads=32):
                tile = T.alloc_shared((8,), "int4")
                T.clear(tile)
                T.copy(tile, Y[3])


@pytest.mark.parametrize("device", ["interp", "cpu"])
def test_odd_place_of_the_run_is_an_error(device: str) -> None:
    @T.prim_func
    def main(Y: T.Tensor((64,), "int4"), start: T.int32):
        with T.Kernel(1, threads=32):
            tile = T.alloc_shared((8,), "int4")
            T.clear(tile)
            T.copy(tile, Y[start])

    kernel = tilewright.compile(main, device=device)
    kernel(np.zeros(32, np.uint8), 2)
    with pytest.raises(tilewright.TilewrightError, match="begins in the middle of a byte"):
        kernel(np.zeros(32, np.uint8), 3)


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_extents_and_strides_of_packed_tensors_give_symbols(device: str) -> None:
    """The host's tensor has half the extent and half the strides of the one that is declared."""

    @tilewright.jit(device=device)
    def sizes(x, y):
        n, s = T.dynamic("n"), T.dynamic("s")
        x: T.StridedTensor[[4, n], [s, 1], T.float4_e2m1fn]
        y: T.Tensor[(2,), T.int32]
        with T.Kernel(1, threads=32):
            y[0] = n
            y[1] = s

    y = np.zeros(2, np.int32)
    sizes(np.zeros((8, 24), np.uint8)[::2, :12], y)
    np.testing.assert_array_equal(y, [24, 96])
