"""`T.gemm_sp`: of each four numbers of A along k two are kept (of two 32-bit ones, one)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


def sparse(dtype: str, meta: str, rows: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All numbers of an operand as float64, those that are kept, and where they stood."""
    rng = np.random.default_rng(3)
    full, kept, places = np.zeros((rows, k)), [], []
    for i in range(rows):
        for start in range(0, k, 2 if dtype == "float32" else 4):
            if dtype == "float32":
                chosen = [int(rng.integers(2))]
                places.append((0b0100, 0b1110)[chosen[0]])
            else:
                chosen = sorted(rng.choice(4, 2, replace=False))
                places.append(chosen[0] | chosen[1] << 2)
            for at in chosen:
                full[i, start + at] = rng.integers(-4, 5)
                kept.append(full[i, start + at])
    bits = np.dtype(meta).itemsize * 8
    groups = np.array(places, np.uint64).reshape(rows, -1, bits // 4)
    words = (groups << np.arange(0, bits, 4, dtype=np.uint64)).sum(-1, dtype=np.uint64)
    return full, np.array(kept).reshape(rows, k // 2), words.astype(np.dtype(f"u{meta}")).view(meta)


@ON_ALL
@pytest.mark.parametrize(
    ("dtype", "meta", "turned", "accumulator"),
    [
        ("float16", "int16", False, "float32"),
        ("float16", "int8", True, "float32"),
        ("float32", "int16", False, "float32"),
        ("int8", "int32", False, "int32"),
        ("float8_e4m3fn", "int32", True, "float32"),
    ],
)
def test_sparse_products(
    device: str, dtype: str, meta: str, turned: bool, accumulator: str
) -> None:
    m, n, k = 32, 16, 64
    full, kept, places = sparse(dtype, meta, m, k)
    if turned:
        kept, places = kept.T, places.T

    @T.prim_func
    def main(
        A: T.Tensor(kept.shape, dtype),
        E: T.Tensor(places.shape, meta),
        B: T.Tensor((k, n), dtype),
        C: T.Tensor((m, n), accumulator),
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared(kept.shape, dtype)
            e = T.alloc_fragment(places.shape, meta)
            b = T.alloc_shared((k, n), dtype)
            c = T.alloc_fragment((m, n), accumulator)
            T.copy(A, a)
            T.copy(E, e)
            T.copy(B, b)
            T.gemm_sp(a, e, b, c, transpose_A=turned, transpose_E=turned, clear_accum=True)
            T.wgmma_gemm_sp(a, e, b, c, transpose_A=turned, transpose_E=turned)
            T.copy(c, C)

    kind = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    right = np.random.default_rng(4).integers(-4, 5, (k, n)).astype(kind)
    c = np.zeros((m, n), accumulator)
    run(main, device, kept.astype(kind).copy(), places.copy(), right, c)
    np.testing.assert_array_equal(c, 2 * (full @ right.astype(np.float64)))


def test_metadata_of_another_shape_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="need 32 x 4 of int16 in E, got 32 x 8"):

        @T.prim_func
        def main(A: T.Tensor((32, 32), "float16"), E: T.Tensor((32, 8), "int16")):
            with T.Kernel(1, threads=64):
                a = T.alloc_shared((32, 32), "float16")
                e = T.alloc_shared((32, 8), "int16")
                c = T.alloc_fragment((32, 32), "float32")
                T.copy(A, a)
                T.copy(E, e)
                T.gemm_sp(a, e, a, c, clear_accum=True)
