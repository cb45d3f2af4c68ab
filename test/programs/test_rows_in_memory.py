"""Reductions and running sums of shared tiles: lanes, warps and threads share rows in every way."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

pytestmark = pytest.mark.filterwarnings("error")  # findings of the virtual GPU

#: Extents and threads: a row for each thread, for each warp, for several warps, with warps and
#: lanes that have none, rows shorter than a warp and of no whole number of chunks.
SHAPES = [
    ((300, 3), 128),
    ((8, 64), 128),
    ((5, 70), 96),
    ((2, 200), 256),
    ((1, 1000), 128),
    ((1, 33), 256),
    ((3, 100), 80),
    ((4, 40), 16),
    ((1, 1), 32),
]


def program(statement, shape, dim, dtype, threads):
    result = shape[:dim] + shape[dim + 1 :]

    @T.prim_func
    def main(A: T.Tensor(shape, dtype), B: T.Tensor(shape, dtype), C: T.Tensor(result, dtype)):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared(shape, dtype)
            b = T.alloc_shared(shape, dtype)
            c = T.alloc_shared(result, dtype)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(C, c)
            statement(a, b, c, dim)
            T.copy(b, B)
            T.copy(c, C)

    return main


def run(kernel_of, arrays) -> list[np.ndarray]:
    copies = [array.copy() for array in arrays]
    kernel_of(*copies)
    return copies


def assert_agrees(function, arrays) -> None:
    """GPU code with all checks, and CPU code, give the interpreter's bits."""
    expected = run(tilewright.compile(function, device="interp"), arrays)
    for device in ("vgpu:sm_80", "cpu"):
        for ours, theirs in zip(
            run(tilewright.compile(function, device=device), arrays), expected, strict=True
        ):
            np.testing.assert_array_equal(ours, theirs, err_msg=device)


def draw(shape, dtype, seed=0) -> np.ndarray:
    """Small integers, so that no order of a sum rounds."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize(("shape", "threads"), SHAPES)
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums(shape, threads, dim, reverse) -> None:
    def statement(a, b, c, dim):
        T.cumsum(a, b, dim=dim, reverse=reverse)
        T.cumsum(a, dim=dim, reverse=reverse)  # in place
        T.reduce_max(a, c, dim=dim)

    for dtype in ("float32", "int64"):
        function = program(statement, shape, dim, dtype, threads)
        outer = shape[:dim] + shape[dim + 1 :]
        assert_agrees(
            function, [draw(shape, dtype), np.zeros(shape, dtype), np.zeros(outer, dtype)]
        )


@pytest.mark.parametrize(("shape", "threads"), SHAPES)
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("kind", ["sum", "max", "min", "absmax", "abssum", "bitand", "bitxor"])
def test_reductions(shape, threads, dim, kind) -> None:
    def statement(a, b, c, dim):
        getattr(T, f"reduce_{kind}")(a, c, dim=dim, clear=False)

    dtype = "int32" if kind.startswith("bit") else "float32"
    outer = shape[:dim] + shape[dim + 1 :]
    function = program(statement, shape, dim, dtype, threads)
    assert_agrees(
        function, [draw(shape, dtype), np.zeros(shape, dtype), draw(outer, dtype, seed=1)]
    )


def test_negative_zeros_and_nans_keep_their_meaning() -> None:
    def statement(a, b, c, dim):
        T.reduce_sum(a, c, dim=dim)
        T.cumsum(a, b, dim=dim)

    a = np.zeros((3, 70), np.float32)
    a[0] = -0.0
    a[1, 40] = np.nan
    function = program(statement, a.shape, 1, "float32", 128)
    arrays = [a, np.zeros_like(a), np.zeros(3, np.float32)]
    assert_agrees(function, arrays)
    b, c = run(tilewright.compile(function, device="vgpu:sm_80"), arrays)[1:]
    np.testing.assert_array_equal(np.isnan(b[1]), np.arange(70) >= 40)
    assert np.signbit(c[0])
    assert np.isnan(c[1])


def test_maxima_of_rows_of_nan() -> None:
    def statement(a, b, c, dim):
        T.reduce_max(a, c, dim=dim)

    a = np.full((2, 40), np.nan, np.float32)
    a[1, 7] = 2
    assert_agrees(
        program(statement, a.shape, 1, "float32", 64),
        [a, np.zeros_like(a), np.zeros(2, np.float32)],
    )


def test_lanes_meet_by_shuffles() -> None:
    def statement(a, b, c, dim):
        T.cumsum(a, b, dim=dim)
        T.reduce_sum(a, c, dim=dim)

    function = program(statement, (1, 1024), 1, "float32", 128)
    ptx = tilewright.compile(function, device="vgpu:sm_80").ptx
    assert "shfl.sync.up" in ptx
    assert "shfl.sync.bfly" in ptx
