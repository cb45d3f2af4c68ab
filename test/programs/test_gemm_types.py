"""Gemms of every element type the tensor cores know, in every transposition, on the virtual GPU."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tilewright
import tilewright.language as T

M, N, K = 64, 48, 64

# operands, accumulator, the mma that must be used
TYPES = [
    ("float16", "float16", "float32", r"m16n8k16\S*\.f32\.f16\.f16\.f32"),
    ("float16", "float16", "float16", r"m16n8k16\S*\.f16\.f16\.f16\.f16"),
    ("bfloat16", "bfloat16", "float32", r"m16n8k16\S*\.f32\.bf16\.bf16\.f32"),
    ("int8", "int8", "int32", r"m16n8k32\S*\.s32\.s8\.s8\.s32"),
    ("uint8", "int8", "int32", r"m16n8k32\S*\.s32\.u8\.s8\.s32"),
    ("float64", "float64", "float64", r"m8n8k4\S*\.f64\.f64\.f64\.f64"),
]


def gemm(a_type: str, b_type: str, c_type: str, transpose_a: bool, transpose_b: bool):
    a_shape = (K, M) if transpose_a else (M, K)
    b_shape = (N, K) if transpose_b else (K, N)

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
            T.gemm(a, b, c, transpose_A=transpose_a, transpose_B=transpose_b)
            T.copy(c, C)

    return main


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Small integers: every order of summation gives the same bits."""
    low = 0 if dtype == "uint8" else -2
    values = rng.integers(low, 3, shape)
    return values.astype(tilewright_dtype(dtype))


def tilewright_dtype(name: str) -> np.dtype:
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, name)) if name == "bfloat16" else np.dtype(name)


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize(("a_type", "b_type", "c_type", "instruction"), TYPES)
def test_tensor_cores_agree_with_numpy(
    a_type: str, b_type: str, c_type: str, instruction: str, transpose_a: bool, transpose_b: bool
) -> None:
    rng = np.random.default_rng(7)
    function = gemm(a_type, b_type, c_type, transpose_a, transpose_b)
    kernel = tilewright.compile(function, target="sm_80")
    a = draw(rng, (K, M) if transpose_a else (M, K), a_type)
    b = draw(rng, (N, K) if transpose_b else (K, N), b_type)
    c = draw(rng, (M, N), c_type)
    wide = np.float64 if c_type.startswith("float") else np.int64
    left = a.T if transpose_a else a
    right = b.T if transpose_b else b
    expected = c.astype(wide) + left.astype(wide) @ right.astype(wide)
    kernel(a, b, c)
    np.testing.assert_array_equal(c.astype(wide), expected)
    assert re.search(r"mma\.sync\.aligned\." + instruction, kernel.ptx), "no such mma"
    # Operands come by ldmatrix wherever the hardware can: 16-bit elements in any order, bytes only
    # along k.
    expect_ldmatrix = a_type in ("float16", "bfloat16") or (
        a_type in ("int8", "uint8") and (not transpose_a or transpose_b)
    )
    assert ("ldmatrix" in kernel.ptx) == expect_ldmatrix


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "float32", "int32", "float16"])
def test_operands_computed_on_chip_are_read_in_place_on_the_cpu(dtype: str) -> None:
    """No copy prepares them: elements as wide as a word, wider and narrower."""

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((N, K), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(1, threads=64):
            a, b = T.alloc_fragment((M, K), dtype), T.alloc_fragment((N, K), dtype)
            c = T.alloc_fragment((M, N), dtype)
            for i, k in T.Parallel(M, K):
                a[i, k] = A[i, k] + A[i, k]
            for j, k in T.Parallel(N, K):
                b[j, k] = B[j, k]
            T.gemm(a, b, c, transpose_B=True, clear_accum=True)
            T.copy(c, C)

    rng = np.random.default_rng(7)
    a, b = (rng.integers(0, 3, shape).astype(dtype) for shape in ((M, K), (N, K)))
    c = np.zeros((M, N), dtype)
    tilewright.compile(main, device="cpu")(a, b, c)
    np.testing.assert_array_equal(c, (2 * a.astype(np.int64) @ b.T.astype(np.int64)).astype(dtype))


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_products_of_wide_integers_wrap(device: str) -> None:
    """Without tensor cores the sums are integers, too: no float holds these."""

    @T.prim_func
    def main(A: T.Tensor((16, 16), "int32"), C: T.Tensor((16, 16), "int32")):
        with T.Kernel(1, threads=32):
            a, c = T.alloc_shared((16, 16), "int32"), T.alloc_shared((16, 16), "int32")
            T.copy(A, a)
            T.clear(c)
            T.gemm(a, a, c)
            T.copy(c, C)

    info = np.iinfo(np.int32)
    a = np.random.default_rng(3).integers(info.min, info.max, (16, 16)).astype(np.int32)
    c = np.zeros((16, 16), np.int32)
    tilewright.compile(main, device=device)(a, c)
    np.testing.assert_array_equal(c, a @ a)  # numpy wraps
