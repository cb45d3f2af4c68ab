"""Gemms of bfloat16 and bytes on the CPU, which use dot products or tiles where the host has them.

The instructions differ from the language: vdpbf16ps and tdpbf16ps take subnormals as zero, vpdpbusd
wants one unsigned side. Results must not. Instructions of the matrix unit (AMX) run where the host
has it; everywhere, functions stand for them.
"""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

M, N, K = 48, 32, 64
DTYPES = {"bfloat16": ml_dtypes.bfloat16, "int8": np.int8, "uint8": np.uint8}
FLAGS = re.findall(r"\w+", Path("/proc/cpuinfo").read_text())
TRANSPOSES = [(False, False), (False, True), (True, False), (True, True)]


@pytest.fixture(autouse=True, params=["", "avx2", "amx-in-software"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """All that the host has, no AVX-512, or functions in place of a matrix unit's instructions."""
    monkeypatch.setenv("TILEWRIGHT_CPU", request.param)
    return request.param


def compile_gemm(a_type: str, b_type: str, c_type: str, transposes: tuple[bool, bool]):
    a_shape = (K, M) if transposes[0] else (M, K)
    b_shape = (N, K) if transposes[1] else (K, N)

    @T.prim_func
    def main(
        A: T.Tensor(a_shape, a_type), B: T.Tensor(b_shape, b_type), C: T.Tensor((M, N), c_type)
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared(a_shape, a_type)
            b = T.alloc_shared(b_shape, b_type)
            c = T.alloc_fragment((M, N), c_type)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(C, c)
            T.gemm(a, b, c, transpose_A=transposes[0], transpose_B=transposes[1])
            T.copy(c, C)

    return tilewright.compile(main, target="cpu")


def multiply(kernel, a: np.ndarray, b: np.ndarray, c: np.ndarray, transposes: tuple) -> np.ndarray:
    result = c.copy()
    left, right = (x.T if t else x for x, t in zip((a, b), transposes, strict=True))
    kernel(np.ascontiguousarray(left), np.ascontiguousarray(right), result)
    return result


def uses(kernel, instruction: str) -> bool:
    return instruction in kernel.program.compile_cpu()["asm"]


@pytest.mark.parametrize("transposes", TRANSPOSES)
@pytest.mark.parametrize(
    "types", [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8")]
)
def test_bytes_of_all_values(types: tuple[str, str], transposes: tuple[bool, bool]) -> None:
    kernel = compile_gemm(*types, "int32", transposes)
    rng = np.random.default_rng(0)
    limits = [np.iinfo(name) for name in types]

    def draw(shape: tuple, which: int) -> np.ndarray:
        return rng.integers(limits[which].min, limits[which].max + 1, shape).astype(types[which])

    cases = [(draw((M, K), 0), draw((K, N), 1))]
    cases += [
        (np.full((M, K), x, types[0]), np.full((K, N), y, types[1]))
        for x in (limits[0].min, limits[0].max)
        for y in (limits[1].min, limits[1].max)
    ]
    for a, b in cases:
        c = rng.integers(-(2**31), 2**31, (M, N)).astype(np.int32)  # sums wrap
        exact = c.astype(np.int64) + a.astype(np.int64) @ b.astype(np.int64)
        np.testing.assert_array_equal(multiply(kernel, a, b, c, transposes), exact.astype(np.int32))


# Exponents of the elements of A, B and C; small integers times these powers of two, so that every
# product and every sum is exact in float32, subnormal or not.
SCALES = {
    "normal": (0, 0, 0),
    "subnormal sums": (-70, -70, -140),
    "subnormal A": (-133, 20, -113),
    "subnormal B": (20, -133, -113),
    "subnormal C": (-10, -10, -149),
    "at the limit": (-63, -63, -126),
    "below the limit": (-64, -63, -127),
}


@pytest.mark.parametrize("transposes", TRANSPOSES)
@pytest.mark.parametrize("scales", SCALES.values(), ids=SCALES)
def test_bfloat16_of_all_magnitudes(scales: tuple, transposes: tuple[bool, bool]) -> None:
    kernel = compile_gemm("bfloat16", "bfloat16", "float32", transposes)
    rng = np.random.default_rng(1)
    a, b = (
        (rng.integers(-3, 4, shape) * 2.0**scale).astype(ml_dtypes.bfloat16)
        for shape, scale in (((M, K), scales[0]), ((K, N), scales[1]))
    )
    c = (rng.integers(-3, 4, (M, N)) * 2.0 ** scales[2]).astype(np.float32)
    if scales == SCALES["subnormal C"]:
        a[:, :] = 0  # a sum of both would not be exact
    exact = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    assert np.array_equal(exact, exact.astype(np.float32)), "the case itself must be exact"
    got = multiply(kernel, a, b, c, transposes)
    np.testing.assert_array_equal(got, exact.astype(np.float32))


def test_one_small_element_counts() -> None:
    """A single element decides that the fast way is not exact."""
    kernel = compile_gemm("bfloat16", "bfloat16", "float32", (False, False))
    a, b = np.zeros((M, K), ml_dtypes.bfloat16), np.ones((K, N), ml_dtypes.bfloat16)
    a[M - 1, K - 1] = 2.0**-133  # subnormal
    got = multiply(kernel, a, b, np.zeros((M, N), np.float32), (False, False))
    assert np.all(got[M - 1] == np.float32(2.0**-133)) and not got[: M - 1].any()


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_infinities_and_nans(special: float) -> None:
    kernel = compile_gemm("bfloat16", "bfloat16", "float32", (False, False))
    a, b = np.ones((M, K), ml_dtypes.bfloat16), np.ones((K, N), ml_dtypes.bfloat16)
    a[3, 5] = special
    got = multiply(kernel, a, b, np.zeros((M, N), np.float32), (False, False))
    np.testing.assert_array_equal(got[3], np.full(N, special, np.float32))
    assert np.all(np.delete(got, 3, 0) == K)


@pytest.mark.skipif("avx512_bf16" not in FLAGS, reason="the host has no AVX512-BF16")
def test_bfloat16_uses_the_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it pays and there is no matrix unit."""
    monkeypatch.setenv("TILEWRIGHT_CPU", "no-amx")
    monkeypatch.setenv("TILEWRIGHT_CORE", "sapphirerapids")
    types = ("bfloat16", "bfloat16", "float32")
    assert not uses(compile_gemm(*types, (False, True)), "vdpbf16ps")
    for core in ("znver4", "znver5"):
        monkeypatch.setenv("TILEWRIGHT_CORE", core)
        assert uses(compile_gemm(*types, (False, True)), "vdpbf16ps")
    monkeypatch.setenv("TILEWRIGHT_CPU", "avx2")
    assert not uses(compile_gemm(*types, (False, True)), "vdpbf16ps")


def test_each_instruction_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pays is a table of types of cores, which a user may overrule."""
    types = ("bfloat16", "bfloat16", "float32")
    monkeypatch.setenv("TILEWRIGHT_CPU", "bf16-widened")
    kernel = compile_gemm(*types, (False, True))
    assert not uses(kernel, "vdpbf16ps") and not uses(kernel, "tdpbf16ps")
    monkeypatch.setenv("TILEWRIGHT_CPU", "bf16-dots")
    assert uses(compile_gemm(*types, (False, True)), "vdpbf16ps") == ("avx512_bf16" in FLAGS)
    for kernel in (compile_gemm(*types, (True, True)), compile_gemm(*types, (False, False))):
        assert not uses(kernel, "tw_tile_multiply")


def test_functions_stand_for_the_matrix_unit(processor: str) -> None:
    stands = processor == "amx-in-software"
    for types in (("bfloat16", "bfloat16", "float32"), ("int8", "uint8", "int32")):
        kernel = compile_gemm(*types, (False, True))
        assert uses(kernel, "tw_tile_multiply") == stands
        units = [r.data.get("unit") for r in kernel.remarks if r.kind == "gemm"]
        assert ("the matrix unit" in units) == (stands or "amx_tile" in FLAGS)


@pytest.mark.skipif("amx_bf16" not in FLAGS, reason="the host has no AMX")
def test_products_use_the_matrix_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_CPU")
    assert uses(compile_gemm("bfloat16", "bfloat16", "float32", (True, True)), "tdpbf16ps")
    assert uses(compile_gemm("int8", "int8", "int32", (True, True)), "tdpbssd")
    monkeypatch.setenv("TILEWRIGHT_CPU", "no-amx")
    assert not uses(compile_gemm("int8", "int8", "int32", (True, True)), "tdpbssd")


@pytest.mark.parametrize("shape", [(16, 16, 32), (48, 80, 96), (128, 32, 64), (40, 48, 48)])
@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_odd_numbers_of_tiles(dtype: str, shape: tuple[int, int, int]) -> None:
    """One tile is left over below, to the right, or both; tiles are smaller than the unit's."""
    m, n, k = shape
    k *= 2 if dtype == "int8" else 1
    accumulator = "int32" if dtype == "int8" else "float32"

    @T.prim_func
    def main(
        A: T.Tensor((m, k), dtype), B: T.Tensor((k, n), dtype), C: T.Tensor((m, n), accumulator)
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((m, k), dtype)
            b = T.alloc_shared((k, n), dtype)
            c = T.alloc_fragment((m, n), accumulator)
            T.clear(c)
            T.copy(A, a)
            T.copy(B, b)
            for _turn in T.Pipelined(2, num_stages=1):
                T.gemm(a, b, c)
            T.copy(c, C)

    kernel = tilewright.compile(main, target="cpu")
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-3, 4, extents).astype(DTYPES[dtype]) for extents in ((m, k), (k, n)))
    c = np.ones((m, n), accumulator)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, 2 * (a.astype(np.float64) @ b.astype(np.float64)))


@pytest.mark.skipif("avx512_vnni" not in FLAGS, reason="the host has no AVX512-VNNI")
def test_bytes_use_the_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CPU", "no-amx")
    assert uses(compile_gemm("int8", "int8", "int32", (True, False)), "vpdpbusd")


@pytest.mark.parametrize("types", [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
def test_bytes_are_pairs_of_int16_without_avx512(
    types: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest products, all of one sign, do not leave an int32."""
    monkeypatch.setenv("TILEWRIGHT_CPU", "avx2")
    kernel = compile_gemm(*types, "int32", (False, False))
    assert uses(kernel, "vpmaddwd") or uses(kernel, "vpdpwssd")  # with AVX-VNNI
    a, b = (np.full(shape, 255 if dtype == "uint8" else -128, DTYPES[dtype])
            for shape, dtype in zip(((M, K), (K, N)), types, strict=True))  # fmt: skip
    got = multiply(kernel, a, b, np.zeros((M, N), np.int32), (False, False))
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("change", ["never", "elements", "slice"])
@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "float16", "float32"])
def test_a_tile_that_changes_between_products(dtype: str, change: str) -> None:
    """A tile is packed once for all turns of a loop only if nothing writes it there."""
    accumulator = "int32" if dtype == "int8" else "float32"
    turns = 3

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), accumulator)
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((M, K), dtype)
            b = T.alloc_shared((N, K), dtype)
            c = T.alloc_fragment((M, N), accumulator)
            T.clear(c)
            T.copy(A, a)
            T.copy(B, b)
            for _turn in T.Pipelined(turns, num_stages=1):
                T.gemm(a, b, c, transpose_B=True)
                if change == "elements":
                    for i, j in T.Parallel(N, K):
                        b[i, j] = b[i, j] + 1
                if change == "slice":
                    T.copy(A[0:16, :], b[8:24, :])
            T.copy(c, C)

    kernel = tilewright.compile(main, target="cpu")
    rng = np.random.default_rng(5)
    kind = DTYPES.get(dtype) or np.dtype(dtype)
    a, b = (rng.integers(-3, 4, shape).astype(kind) for shape in ((M, K), (N, K)))
    c = np.zeros((M, N), accumulator)
    expected, left, right = c.astype(np.float64), a.astype(np.float64), b.astype(np.float64)
    for _ in range(turns):
        expected = expected + left @ right.T
        if change == "elements":
            right = right + 1
        if change == "slice":
            right[8:24] = left[:16]
    kernel(a, b, c)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("start", [0, 1, 2.0**-140])
@pytest.mark.parametrize("shape", [(48, 48, 96), (40, 32, 48)])
@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_sums_start_where_they_were_filled(dtype: str, shape: tuple, start: float) -> None:
    """Sums of the matrix unit start from zero: what was there, zero or subnormal, is added. A loop
    of short steps, some of which a core takes at once, goes on from the sums of the step before."""
    m, n, depth = shape
    steps = 4
    accumulator = "int32" if dtype == "int8" else "float32"
    value = int(start) if dtype == "int8" else start

    @T.prim_func
    def main(
        A: T.Tensor((m, steps * depth), dtype),
        B: T.Tensor((n, steps * depth), dtype),
        C: T.Tensor((m, n), accumulator),
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared((m, depth), dtype)
            b = T.alloc_shared((n, depth), dtype)
            c = T.alloc_fragment((m, n), accumulator)
            T.fill(c, value)
            for k in T.Pipelined(steps, num_stages=2):
                T.copy(A[0, k * depth], a)
                T.copy(B[0, k * depth], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C)

    kernel = tilewright.compile(main, target="cpu")
    rng = np.random.default_rng(11)
    # No sum comes back to zero: the step in which it left would have rounded the start away.
    a, b = (rng.integers(1, 4, (x, steps * depth)).astype(DTYPES[dtype]) for x in (m, n))
    a[0] = 0
    c = np.ones((m, n), accumulator)
    kernel(a, b, c)
    exact = a.astype(np.float64) @ b.astype(np.float64).T + value
    np.testing.assert_array_equal(c, exact.astype(c.dtype))
