"""What kernels print and assert, and the workspaces of a launch, on every engine."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ENGINES = ["interp", "sm_80", "sm_90"]


@T.prim_func
def printing(A: T.Tensor((2, 3), "float32"), B: T.Tensor((4,), "uint8")):
    with T.Kernel(2, threads=32) as bx:
        tile = T.alloc_fragment((2, 3), "float32")
        bytes_ = T.alloc_shared((4,), "uint8")
        count = T.alloc_var("int32")
        T.copy(A, tile)
        T.copy(B, bytes_)
        count = -7 - bx
        T.print("100% of a text")
        T.print(tile, msg="tile")
        T.print(bytes_)
        T.print(bx, msg="block")
        T.print(count, msg="count")
        T.print(A[1, 2] / 3)


def test_engines_print_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    a = np.array([[0, 1.5, -2], [np.inf, np.nan, 1e30]], "float32")
    b = np.array([0, 1, 200, 255], "uint8")
    shown = {}
    for engine in ENGINES:
        kernel = tilewright.compile(printing, target=engine)
        kernel(a, b)
        shown[engine] = capsys.readouterr().out
    assert "tile [[0, 1.5, -2], [inf, nan, 1" in shown["interp"]
    assert "[0, 1, 200, 255]\nblock 0\ncount -7\n" in shown["interp"]
    for engine in ENGINES:
        assert shown[engine] == shown["interp"]


def test_cpu_prints_tiles_of_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks of the CPU print in any order, so that one block prints here."""
    dtypes = ("bool", "int8", "uint8", "int64", "uint64", "float16", "float64")

    @T.prim_func
    def main(
        A: T.Tensor((2, 3), "bool"),
        B: T.Tensor((2, 3), "int8"),
        C: T.Tensor((2, 3), "uint8"),
        D: T.Tensor((2, 3), "int64"),
        E: T.Tensor((2, 3), "uint64"),
        F: T.Tensor((2, 3), "float16"),
        G: T.Tensor((2, 3), "float64"),
    ):
        with T.Kernel(1, threads=32):
            for tensor in (A, B, C, D, E, F, G):
                tile = T.alloc_shared((2, 3), tensor.dtype)
                T.copy(tensor, tile)
                T.print(tile, msg="tile")
                T.print(tile[1, 0], msg="element")

    numbers = np.array([[1, 0, -1], [-2, 100, 3]])
    arrays = [numbers.astype(dtype) for dtype in dtypes]
    shown = {}
    for device in ("interp", "cpu"):
        tilewright.compile(main, device=device)(*arrays)
        shown[device] = capsys.readouterr().out
    assert "tile [[1, 0, 255], [254, 100, 3]]\nelement 254\n" in shown["interp"]
    assert "[18446744073709551614, 100, 3]]\nelement 18446744073709551614\n" in shown["interp"]
    assert shown["cpu"] == shown["interp"]


@T.prim_func
def checked(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=64):
        for i in T.Parallel(64):
            T.device_assert(A[i] < 100, "a value is too large")
            A[i] = A[i] + 1


@pytest.mark.parametrize("engine", ENGINES)
def test_assertions_stop_the_launch(engine: str) -> None:
    kernel = tilewright.compile(checked, target=engine)
    a = np.arange(64, dtype="int32")
    kernel(a)
    np.testing.assert_array_equal(a, np.arange(1, 65))
    with pytest.raises(tilewright.TilewrightError, match="a value is too large") as caught:
        kernel(np.full(64, 100, "int32"))
    assert "test_notes.py" in str(caught.value)


def through_workspace(dynamic: bool):
    n = T.dynamic("n") if dynamic else 256

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        work = T.alloc_global((n, 2), "float32")
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            for i in T.Parallel(64):
                if bx * 64 + i < n:
                    work[bx * 64 + i, 0] = A[bx * 64 + i] * 2
                    work[bx * 64 + i, 1] = 1
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            for i in T.Parallel(64):
                if bx * 64 + i < n:
                    B[bx * 64 + i] = work[n - 1 - (bx * 64 + i), 0] + work[bx * 64 + i, 1]

    return main


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_kernels_share_a_workspace(engine: str, dynamic: bool) -> None:
    kernel = tilewright.compile(through_workspace(dynamic), target=engine)
    a = np.arange(256, dtype="float32")
    b = np.zeros_like(a)
    kernel(a, b)
    np.testing.assert_array_equal(b, 2 * a[::-1] + 1)
    assert not kernel.findings


def test_sum_into_a_result_that_nothing_has_cleared() -> None:
    """TileLang's sparse attention (backward, fine-tuning) adds to a tensor of `T.empty`: right only
    where memory happens to be zero."""

    @tilewright.jit(device="interp")
    def total(A):
        N = T.const("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((2,), "float32")
        with T.Kernel(1, threads=32):
            B[1] = 0.0
            for i in T.serial(N):
                T.atomic_add(B[i % 2], A[i])
        return B

    kernel = total.compile(N=8)
    kernel.options["strict"] = False  # a warning, so that there is a result
    with pytest.warns(tilewright.kernel.TilewrightWarning, match=r"combined into 'B' at \[0\]"):
        result = kernel(np.ones(8, np.float32))
    assert result[1] == 4
