"""Exported libraries: parameters that are no plain dense tensors."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from exported import Exported, gemm
from tilewright.support.errors import TilewrightError

OK, BAD_ARGUMENT = 0, 1


@tilewright.jit
def scale_rows():
    """B = 2 A, for rows that lie apart."""
    rows, columns = T.dynamic("rows, columns")
    of_a, of_b = T.dynamic("of_a, of_b")

    @T.prim_func
    def scale(
        A: T.StridedTensor((rows, columns), (of_a, 1), "float32"),
        B: T.StridedTensor((rows, columns), (of_b, 1), "float32"),
    ):
        with T.Kernel(rows, threads=32) as row:
            for j in T.Parallel(columns):
                B[row, j] = A[row, j] * 2.0

    return scale


@tilewright.jit
def widen(n=6):
    @T.prim_func
    def widen(A: T.Tensor((4, n), T.int4), B: T.Tensor((4, n), "int32")):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(4, n):
                B[i, j] = T.cast(A[i, j], "int32")

    return widen


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("odd")
    kernels = {"scale": scale_rows(), "widen": widen()}
    tilewright.export_library(folder / "odd", kernels, archs=["sm_80"], formats=["so"])
    return Exported(folder / "odd.so")


@pytest.mark.parametrize(
    "part", [np.s_[:, :], np.s_[:, 1:5], np.s_[::2, :7], np.s_[2:3, 3:4], np.s_[:0, :], np.s_[::-1]]
)
def test_rows_that_lie_apart_are_copied(odd: Exported, part: tuple) -> None:
    a = np.arange(48, dtype=np.float32).reshape(6, 8)
    b = np.full((6, 8), -1, np.float32)
    expected = b.copy()
    expected[part] = 2 * a[part]
    assert odd.call("scale", a[part], b[part]) == (OK, "")
    np.testing.assert_array_equal(b, expected)  # and what lies between is as it was


def test_a_dense_tensor_is_used_in_place(odd: Exported) -> None:
    a = np.ones((4, 8), np.float32)
    assert odd.call("scale", a, a) == (OK, "")
    np.testing.assert_array_equal(a, np.full((4, 8), 2))


def test_columns_that_alternate_share_nothing(odd: Exported) -> None:
    values = np.arange(32, dtype=np.float32).reshape(4, 8)
    expected = values.copy()
    expected[:, 4:] = 2 * values[:, :4]
    assert odd.call("scale", values[:, :4], values[:, 4:]) == (OK, "")
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.s_[:, :4], np.s_[:, 3:7]),
        (np.s_[:, :4], np.s_[:, :4]),
        (np.s_[:2, :], np.s_[1:, :5]),
        (np.s_[1:, :5], np.s_[:2, :]),
    ],
)
def test_shared_elements_are_refused_as_in_python(
    odd: Exported, first: tuple, second: tuple
) -> None:
    values = np.zeros((4, 8), np.float32)
    rows = min(len(values[first]), len(values[second]))
    columns = min(values[first].shape[1], values[second].shape[1])
    a, b = values[first][:rows, :columns], values[second][:rows, :columns]
    message = (
        "parameter 'B': shares memory with 'A', and the kernel writes one of them; pass a copy"
    )
    assert odd.call("scale", a, b) == (BAD_ARGUMENT, message)
    with pytest.raises(TilewrightError) as raised:
        scale_rows()(a, b)
    assert "parameter 'B': shares memory with 'A', and the kernel writes one of them" in str(
        raised.value
    )


def test_header_and_description_name_the_strides(tmp_path: Path) -> None:
    tilewright.export_library(tmp_path / "scale", scale_rows(), cpus=["x86-64-v3"])
    header = (tmp_path / "scale.h").read_text()
    assert " *   A: float32 (rows, columns), strides (of_a, 1)\n" in header
    library = json.loads((tmp_path / "scale.json").read_text())
    [form] = library["functions"][0]["forms"]
    assert form["params"][1]["strides"] == ["of_b", 1]


def test_a_stride_that_is_declared_is_checked(odd: Exported) -> None:
    a = np.zeros((8, 6), np.float32).T
    code, message = odd.call("scale", a, np.zeros((6, 8), np.float32))
    assert code == BAD_ARGUMENT
    assert message == (
        "parameter 'A': stride 1: expected 1, got 6 in strides (1, 6) for shape (6, 8)"
    )


def test_numbers_of_four_bits_are_bytes(odd: Exported) -> None:
    packed = np.random.default_rng(0).integers(0, 256, (4, 3), np.uint8)
    got, expected = np.zeros((4, 6), np.int32), np.zeros((4, 6), np.int32)
    widen()(packed, expected)
    assert odd.call("widen", packed, got) == (OK, "")
    np.testing.assert_array_equal(got, expected)
    assert expected.min() < 0 < expected.max()


def test_addresses_are_refused(tmp_path: Path) -> None:
    @T.prim_func
    def gather(table: T.Tensor((2,), T.ptr), B: T.Tensor((2,), "float32")):
        with T.Kernel(2, threads=32) as i:
            A = T.make_tensor(table[i], (1,), "float32")
            B[i] = A[0]

    with pytest.raises(TilewrightError, match="'table' of 'gather' has addresses"):
        tilewright.export_library(tmp_path / "bad", tilewright.compile(gather))


@pytest.mark.parametrize(("cpu", "level"), [("avx2", "x86-64-v3"), ("", "x86-64-v4")])
def test_code_of_a_level_gives_the_bits_of_the_same_instructions(
    cpu: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = Path("/proc/cpuinfo").read_text()
    if level == "x86-64-v4" and "avx512vl" not in flags:
        pytest.skip("this processor has no AVX-512")
    monkeypatch.setenv("TILEWRIGHT_CPU", cpu)
    product = gemm(block=48 if cpu else 80)  # Python keeps what it has compiled
    tilewright.export_library(tmp_path / "level", {"gemm": product}, cpus=[level], formats=["so"])
    rng = np.random.default_rng(2)
    a = rng.standard_normal((45, 130)).astype(np.float16)
    b = rng.standard_normal((130, 77)).astype(np.float16)
    c, expected = np.zeros((45, 77), np.float32), np.zeros((45, 77), np.float32)
    product(a, b, expected, 0.25)
    library = Exported(tmp_path / "level.so")
    assert library.call("gemm", a, b, c, ctypes.c_float(0.25)) == (OK, "")
    assert c.tobytes() == expected.tobytes()
