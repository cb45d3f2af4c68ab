"""Chains of statements that the CPU runs as one loop, row by row: every element is what the
interpreter gives, whatever the shape, the dtype and the place of the rows.

Values are small integers, so that any order of a sum gives the same bits.
"""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from test_engines import bits_of


def integers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def assert_like_interpreter(program, *arguments: np.ndarray) -> None:
    expected = [a.copy() for a in arguments]
    tilewright.compile(program, device="interp")(*expected)
    tilewright.compile(program, device="cpu")(*arguments)
    for got, want in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(bits_of(got), bits_of(want))


@pytest.mark.parametrize("dtype, total", [("float64", "float32"), ("float32", "float64")])
def test_sums_are_as_wide_as_the_wider_of_both_types(dtype: str, total: str) -> None:
    """Large numbers that float32 does not hold, or not their sum, and that cancel."""

    @T.prim_func
    def main(X: T.Tensor((16, 32), dtype), Z: T.Tensor((16,), total)):
        with T.Kernel(1, threads=32):
            row = T.alloc_fragment((16, 32), dtype)
            sums = T.alloc_fragment((16,), total)
            T.copy(X, row)
            T.reduce_sum(row, sums, dim=1)
            T.copy(sums, Z)

    pairs = [2.0**30 + 1, -(2.0**30)] if dtype == "float64" else [2.0**30, 0.5]
    rows = np.tile(np.array(pairs * 16, dtype), (16, 1))
    result = np.zeros(16, total)
    tilewright.compile(main, device="cpu")(rows, result)
    np.testing.assert_array_equal(result, rows.astype("float64").sum(1).astype(total))


def test_a_tile_that_is_only_summed_up_needs_no_memory() -> None:
    @T.prim_func
    def main(X: T.Tensor((8, 1024), "float32"), Z: T.Tensor((8,), "float32")):
        with T.Kernel(8, threads=32) as bx:
            passing = T.alloc_shared((1, 1024), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(X[bx, 0], passing)
            T.reduce_sum(passing, total, dim=1)
            T.copy(total, Z[bx])

    host = tilewright.compile(main, target="cpu").program.compile_cpu()["host"]
    assert '"total"' in host and '"passing"' not in host
    assert_like_interpreter(main, integers((8, 1024), "float32"), np.zeros(8, "float32"))


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("columns", [1, 15, 64, 515, 1027])
@pytest.mark.parametrize("block", [1, 3])
def test_norm_of_rows(block: int, columns: int, dtype: str) -> None:
    @T.prim_func
    def main(X: T.Tensor((6, columns), dtype), Z: T.Tensor((6, columns), "float32")):
        with T.Kernel(6 // block, threads=32) as bx:
            x = T.alloc_fragment((block, columns), dtype)
            squares = T.alloc_fragment((block, columns), "float32")
            total = T.alloc_fragment((block,), "float32")
            least = T.alloc_fragment((block,), dtype)
            T.copy(X[bx * block, 0], x)
            for i, j in T.Parallel(block, columns):
                squares[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(squares, total, dim=1)
            T.reduce_min(x, least, dim=1)
            for i in T.Parallel(block):
                total[i] = total[i] + 1
            for i, j in T.Parallel(block, columns):
                squares[i, j] = x[i, j] * total[i] - least[i]
            T.copy(squares, Z[bx * block, 0])

    assert_like_interpreter(main, integers((6, columns), dtype), np.zeros((6, columns), "float32"))


@pytest.mark.parametrize("kind", ["max", "min", "absmax"])
def test_extremes_with_nan_and_signed_zeros(kind: str) -> None:
    """A NaN loses, a row of NaNs stays one, and -0 is less than +0, also where one operand is
    known to be a number."""
    reduce = getattr(T, f"reduce_{kind}")

    @T.prim_func
    def main(X: T.Tensor((8, 96), "float32"), Z: T.Tensor((2, 8), "float32")):
        with T.Kernel(1, threads=32):
            x = T.alloc_fragment((8, 96), "float32")
            clamped = T.alloc_fragment((8, 96), "float32")
            found = T.alloc_fragment((8,), "float32")
            bounded = T.alloc_fragment((8,), "float32")
            T.copy(X, x)
            reduce(x, found, dim=1)
            for i, j in T.Parallel(8, 96):
                clamped[i, j] = T.clamp(x[i, j], -4.0, 4.0)
            reduce(clamped, bounded, dim=1)
            T.copy(found, Z[0, 0:8])
            T.copy(bounded, Z[1, 0:8])

    x = np.zeros((8, 96), "float32")
    x[0] = np.nan
    x[1, ::2] = np.nan
    x[2] = -0.0
    x[3] = -0.0
    x[3, 17] = 0.0
    x[4, 40] = -0.0
    x[5] = -np.inf
    x[6, 95] = np.inf
    x[7, :16] = np.nan
    x.view(np.uint32)[7, 16:80] = 0x7FA00000  # a signalling NaN loses like any other
    assert_like_interpreter(main, x, np.zeros((2, 8), "float32"))


def test_a_number_beats_a_nan_that_meets_a_clamped_value() -> None:
    @T.prim_func
    def main(
        X: T.Tensor((64,), "float32"),
        Y: T.Tensor((64,), "float32"),
        Z: T.Tensor((2, 64), "float32"),
    ):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                Z[0, i] = T.min(X[i], T.min(Y[i], 4.0))
                Z[1, i] = T.max(T.max(Y[i], -4.0), X[i])

    x = np.where(np.arange(64) % 3 == 0, np.nan, integers((64,), "float32"))
    assert_like_interpreter(
        main, x.astype("float32"), integers((64,), "float32", 1), np.zeros((2, 64), "float32")
    )


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("block", [1, 4])
def test_rows_of_a_tensor_larger_than_the_caches(block: int, offset: int) -> None:
    """Written past the caches from the first whole line on, read ahead, nothing written outside."""
    rows, columns = 8200, 1029

    @T.prim_func
    def main(X: T.Tensor((rows, columns), "float32"), Z: T.Tensor((rows, columns), "float32")):
        with T.Kernel(rows // block, threads=32) as bx:
            x = T.alloc_fragment((block, columns), "float32")
            total = T.alloc_fragment((block,), "float32")
            T.copy(X[bx * block, 0], x)
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(block, columns):
                Z[bx * block + i, j] = x[i, j] - total[i]

    kernel = tilewright.compile(main, target="cpu")
    assembly = kernel.program.compile_cpu()["asm"]
    assert "movnt" in assembly and "prefetch" in assembly
    x = integers((rows, columns), "float32")
    memory = np.zeros(rows * columns + 16, "float32")
    z = memory[offset : offset + rows * columns].reshape(rows, columns)
    kernel(x, z)
    assert np.array_equal(z, x - x.sum(1, keepdims=True))
    assert not memory[:offset].any() and not memory[offset + rows * columns :].any()


@pytest.mark.parametrize("is_in_place", [False, True])
@pytest.mark.parametrize("block", [1, 4])
def test_a_row_of_a_tensor_that_is_only_read_is_not_copied(block: int, is_in_place: bool) -> None:
    rows, columns = 8, 1029

    def build():
        @T.prim_func
        def main(X: T.Tensor((rows, columns), "float32"), Z: T.Tensor((rows, columns), "float32")):
            with T.Kernel(rows // block, threads=32) as bx:
                original = T.alloc_fragment((block, columns), "float32")
                largest = T.alloc_fragment((block,), "float32")
                T.copy(X[bx * block, 0], original)
                T.reduce_max(original, largest, dim=1)
                if is_in_place:
                    T.clear(X[bx * block : (bx + 1) * block, 0:columns])
                for i, j in T.Parallel(block, columns):
                    Z[bx * block + i, j] = largest[i] - original[i, j]

        return main

    host = tilewright.compile(build(), target="cpu").program.compile_cpu()["host"]
    assert '"largest"' in host and ('"original"' in host) == is_in_place
    assert_like_interpreter(
        build(), integers((rows, columns), "float32"), np.zeros((rows, columns), "float32")
    )


def test_arguments_that_overlap_are_not_fused() -> None:
    """In place, rows are complete before the next statement writes them: the variant for
    overlapping arguments keeps statements apart."""

    @T.prim_func
    def main(X: T.Tensor((4, 1024), "float32"), Z: T.Tensor((4, 1024), "float32")):
        with T.Kernel(1, threads=32):
            x = T.alloc_shared((4, 1024), "float32")
            T.copy(X, x)
            for i, j in T.Parallel(4, 1024):
                Z[i, j] = x[i, j] + x[i, 1023 - j]

    memory = integers((5, 1024), "float32")
    x = memory[:4].copy()
    kernel = tilewright.compile(main, target="cpu")
    kernel(memory[:4], memory[1:])
    assert np.array_equal(memory[1:], x + x[:, ::-1])


def test_a_tile_that_keeps_its_rows_from_turn_to_turn() -> None:
    @T.prim_func
    def main(X: T.Tensor((3, 8, 1024), "float32"), Z: T.Tensor((8, 1024), "float32")):
        with T.Kernel(1, threads=32):
            x = T.alloc_fragment((8, 1024), "float32")
            kept = T.alloc_fragment((8, 1024), "float32")
            T.clear(kept)
            for k in T.serial(3):
                T.copy(X[k, 0, 0], x)
                for i, j in T.Parallel(8, 1024):
                    kept[i, j] = kept[i, j] * 2 + x[i, j]
            T.copy(kept, Z)

    assert_like_interpreter(main, integers((3, 8, 1024), "float32"), np.zeros((8, 1024), "float32"))


def test_bits_of_a_copy() -> None:
    """A NaN that is copied keeps its payload, signalling or not."""

    @T.prim_func
    def main(
        X: T.Tensor((4, 512), "float16"),
        Y: T.Tensor((4, 512), "float16"),
        S: T.Tensor((4,), "float32"),
    ):
        with T.Kernel(1, threads=32):
            x = T.alloc_fragment((4, 512), "float16")
            total = T.alloc_fragment((4,), "float32")
            T.copy(X, x)
            T.reduce_sum(x, total, dim=1)
            T.copy(x, Y)
            T.copy(total, S)

    x = integers((4, 512), "float16")
    x.view(np.uint16)[2, 5:9] = [0x7C01, 0xFD55, 0x7E00, 0x8000]
    y = np.zeros_like(x)
    tilewright.compile(main, target="cpu")(x, y, np.zeros(4, "float32"))
    assert np.array_equal(x.view(np.uint16), y.view(np.uint16))


@pytest.mark.parametrize("function", [T.log1p, T.sin, T.erf, T.log10])
def test_functions_of_libm_in_a_row(function) -> None:
    """Libm has none of vectors. (Where a row was summed up, that was an internal error.)"""

    @T.prim_func
    def main(
        X: T.Tensor((4, 512), "float32"),
        Y: T.Tensor((4, 512), "float32"),
        S: T.Tensor((4,), "float32"),
    ):
        with T.Kernel(4, threads=32) as bx:
            x = T.alloc_fragment((1, 512), "float32")
            total = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, 512):
                x[i, j] = function(T.exp2(X[bx, j]))
                Y[bx, j] = x[i, j]
            T.reduce_sum(x, total, dim=1)
            T.copy(total, S[bx])

    x = integers((4, 512), "float32")
    y, total = np.zeros_like(x), np.zeros(4, "float32")
    tilewright.compile(main, device="cpu")(x, y, total)
    expected = [np.zeros_like(y), np.zeros_like(total)]
    tilewright.compile(main, device="interp")(x, *expected)
    np.testing.assert_allclose(y, expected[0], rtol=1e-6)
    np.testing.assert_allclose(total, expected[1], rtol=1e-4)
