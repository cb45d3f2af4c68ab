"""`TensorCoreIntrinEmitter`: products in the memory of threads, for programs that name mma."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run

M, N, K = 32, 48, 64


def program(dtype: str, accumulator: str, turned: tuple[bool, bool], by_atoms: bool):
    """Two by one warps with 16 x 48 results each."""
    emitter = T.TensorCoreIntrinEmitter(
        a_dtype=dtype, b_dtype=dtype, accum_dtype=accumulator, a_transposed=turned[0],
        b_transposed=turned[1], block_row_warps=2, block_col_warps=1, warp_row_tiles=16,
        warp_col_tiles=48, chunk=K,
    )  # fmt: skip
    a_shape, b_shape = (K, M) if turned[0] else (M, K), (N, K) if turned[1] else (K, N)

    @T.prim_func
    def main(
        A: T.Tensor(a_shape, dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((M, N), accumulator)
    ):
        with T.Kernel(1, threads=64):
            a = T.alloc_shared(a_shape, dtype)
            b = T.alloc_shared(b_shape, dtype)
            own_a = T.alloc_local((emitter.warp_rows * emitter.local_size_a,), dtype)
            own_b = T.alloc_local((emitter.warp_cols * emitter.local_size_b,), dtype)
            own_c = T.alloc_local((emitter.warp_cols * emitter.local_size_out,), accumulator)
            T.annotate_layout({a: T.make_mma_swizzle_layout(a)})
            T.copy(A, a)
            T.copy(B, b)
            T.clear(own_c)
            for ki in T.serial(K // emitter.micro_size_k):
                emitter.ldmatrix_a(own_a, a, ki)
                emitter.ldmatrix_b(own_b, b, ki)
                if by_atoms:
                    for i, j in T.grid(emitter.mma_num_inst_m, emitter.mma_num_inst_n):
                        emitter.mma_atom(own_a, own_b, own_c, i, j)
                else:
                    emitter.mma(own_a, own_b, own_c)
            emitter.stmatrix(own_c, C)

    return main


@ON_ALL
@pytest.mark.parametrize(
    ("dtype", "accumulator", "turned", "by_atoms"),
    [
        ("float16", "float32", (False, True), False),
        ("float16", "float16", (True, False), True),
        ("int8", "int32", (False, True), False),
        ("float32", "float32", (False, False), False),
    ],
)
def test_products_of_warps(
    device: str, dtype: str, accumulator: str, turned: tuple[bool, bool], by_atoms: bool
) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(-4, 5, (M, K)).astype(dtype), rng.integers(-4, 5, (K, N)).astype(dtype)
    c = np.zeros((M, N), accumulator)
    given = [x.T.copy() if turn else x for x, turn in zip((a, b), turned, strict=True)]
    run(program(dtype, accumulator, turned, by_atoms), device, *given, c)
    np.testing.assert_array_equal(c, a.astype(np.int64) @ b.astype(np.int64))


def test_float32_operands_are_rounded_to_tfloat32() -> None:
    """As the instructions take them."""
    a, b = np.full((M, K), 1 + 2**-12, np.float32), np.ones((K, N), np.float32)
    c = np.zeros((M, N), np.float32)
    run(program("float32", "float32", (False, False), False), "cpu", a, b, c)
    np.testing.assert_array_equal(c, K)


def test_what_instructions_do_not_have_is_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="multiples of 16 x 8 results, got 8 x 8"):
        T.TensorCoreIntrinEmitter(warp_row_tiles=8, warp_col_tiles=8)
    with pytest.raises(tilewright.TilewrightError, match="elements of one width up to 32 bits"):
        T.TensorCoreIntrinEmitter("float64", "float64", "float64", warp_row_tiles=16)
