"""Gemms of odd shapes, warps, policies and operands: all compile, and say where they leave the
tensor cores, but for those that ask for a division among warps which does not exist."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

POLICIES = [T.GemmWarpPolicy.Square, T.GemmWarpPolicy.FullRow, T.GemmWarpPolicy.FullCol]
SHARED, REGISTERS = "shared", "registers"


def gemm(m, n, k, dtype, accum, threads, policy, transposed, places, rounds=1):
    transpose_a, transpose_b = transposed
    a_shape = (k, m) if transpose_a else (m, k)
    b_shape = (n, k) if transpose_b else (k, n)

    @T.prim_func
    def main(A: T.Tensor(a_shape, dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((m, n), accum)):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared(a_shape, dtype)
            b = T.alloc_shared(b_shape, dtype)
            a_registers = T.alloc_fragment(a_shape, dtype)
            b_registers = T.alloc_fragment(b_shape, dtype)
            c = T.alloc_fragment((m, n), accum)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(a, a_registers)
            T.copy(b, b_registers)
            T.copy(C, c)
            for _ in T.serial(rounds):
                T.gemm(
                    a_registers if places[0] == REGISTERS else a,
                    b_registers if places[1] == REGISTERS else b,
                    c,
                    transpose_A=transpose_a,
                    transpose_B=transpose_b,
                    policy=policy,
                )
            T.copy(c, C)

    return main


def check(arch, m, n, k, dtype="float16", accum="float32", threads=128, policy=POLICIES[0],
          transposed=(False, False), places=(SHARED, SHARED)):  # fmt: skip
    """The kernel, after its values were compared with numpy's."""
    function = gemm(m, n, k, dtype, accum, threads, policy, transposed, places)
    kernel = tilewright.compile(function, target=arch)
    rng = np.random.default_rng(4)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    a, b = rng.integers(-2, 3, (m, k)), rng.integers(-2, 3, (k, n))
    c = rng.integers(-2, 3, (m, n)).astype(accum)
    expected = c.astype(np.int64) + a @ b
    a, b = a.T if transposed[0] else a, b.T if transposed[1] else b
    kernel(np.ascontiguousarray(a).astype(kind), np.ascontiguousarray(b).astype(kind), c)
    np.testing.assert_array_equal(c.astype(np.int64), expected)
    assert not kernel.findings
    leaves = [r.message for r in kernel.remarks if "leaves the tensor cores" in r.message]
    assert ("mma.sync" in kernel.ptx) == (not leaves)
    return kernel, leaves


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("threads", [32, 96, 128, 160])
@pytest.mark.parametrize(("m", "n"), [(16, 8), (48, 24), (80, 40), (96, 120)])
def test_warps_share_what_they_can(m: int, n: int, threads: int, policy) -> None:
    warps = threads // 32
    fits = any(
        warps % rows == 0 and m % (16 * rows) == 0 and n % (8 * (warps // rows)) == 0
        for rows in range(1, warps + 1)
    )
    if not fits and policy != T.GemmWarpPolicy.Square:  # who names a policy means tensor cores
        with pytest.raises(tilewright.TilewrightError, match=f"no grid of {warps} warps divides"):
            check("sm_80", m, n, 32, threads=threads, policy=policy)
        return
    _, leaves = check("sm_80", m, n, 32, threads=threads, policy=policy)
    assert bool(leaves) != fits


@pytest.mark.parametrize("places", [(REGISTERS, SHARED), (SHARED, REGISTERS), (REGISTERS,) * 2])
@pytest.mark.parametrize("transposed", [(a, b) for a in (False, True) for b in (False, True)])
@pytest.mark.parametrize(
    ("dtype", "accum"),
    [("float16", "float32"), ("bfloat16", "float32"), ("int8", "int32"), ("float64", "float64")],
)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_operands_in_registers(arch: str, dtype: str, accum: str, transposed, places) -> None:
    _, leaves = check(arch, 64, 32, 64, dtype, accum, transposed=transposed, places=places)
    assert not leaves


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"n": 20}, "no grid of 4 warps divides 64 x 20 into 16 x 8 tiles; multiples of 64 x 8, "
                    "32 x 16, 16 x 32 work"),
        ({"k": 24}, "K = 24 is not a multiple of 16"),
        ({"threads": 80}, "the block is not a whole number of warps"),
        ({"dtype": "float32"}, "the tensor cores have no instruction for float32 into float32"),
        ({"dtype": "int16", "accum": "int32"}, "no instruction for int16 into int32"),
        ({"dtype": "float8_e4m3fn"}, "no instruction for float8_e4m3fn into float32"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("places", [(SHARED, SHARED), (REGISTERS, REGISTERS)])
def test_a_remark_says_why_tensor_cores_are_left(what: dict, message: str, places) -> None:
    _, leaves = check("sm_80", **{"m": 64, "n": 32, "k": 32, "places": places, **what})
    assert len(leaves) == 1
    assert message in leaves[0]
