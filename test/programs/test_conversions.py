"""Fragments whose uses disagree about who holds what: every way from one layout to another."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ARCHS = ["sm_80", "sm_90"]


def run(function, arch: str, *arrays: np.ndarray):
    """The kernel after a call on the virtual GPU, its arrays compared with the interpreter's."""
    kernel = tilewright.compile(function, target=arch)
    expected = [array.copy() for array in arrays]
    tilewright.compile(function, target="interp")(*expected)
    got = [array.copy() for array in arrays]
    kernel(*got)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not kernel.findings
    return kernel


def remarks(kernel) -> str:
    return "\n".join(remark.message for remark in kernel.remarks)


def integers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def blocks(rows: int, size: int, dtype: str, rotated: int = 0):
    """Blocks of size x size: rows lie on threads in one fragment, columns in the other."""

    @T.prim_func
    def main(A: T.Tensor((rows, size), dtype), B: T.Tensor((rows, size), dtype)):
        with T.Kernel(1, threads=rows):
            a = T.alloc_fragment((rows, size), dtype)
            b = T.alloc_fragment((rows, size), dtype)
            T.annotate_layout(
                {
                    a: T.Fragment((rows, size), forward_fn=lambda i, j: (i, j)),
                    b: T.Fragment(
                        (rows, size),
                        forward_fn=lambda i, j: ((i // size * size + j + rotated) % rows, i % size),
                    ),
                }
            )
            T.copy(A, a)
            for i, j in T.Parallel(rows, size):
                b[i, j] = a[i, j]
            T.copy(b, B)

    return main


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "float64"])
def test_lanes_exchange_by_shuffles(arch: str, dtype: str, size: int) -> None:
    a = integers((64, size), dtype)
    kernel = run(blocks(64, size, dtype), arch, a, np.zeros_like(a))
    assert "shfl.sync.idx" in kernel.ptx
    assert "st.shared" not in kernel.ptx
    assert f"'a' is needed by other lanes: {(size - 1) * (1 + (dtype == 'float64'))} shuffles" in (
        remarks(kernel)
    )


@pytest.mark.parametrize("arch", ARCHS)
def test_warps_exchange_through_memory(arch: str) -> None:
    a = integers((64, 4), "float32")
    kernel = run(blocks(64, 4, "float32", rotated=32), arch, a, np.zeros_like(a))
    assert "passes through shared memory" in remarks(kernel)


@pytest.mark.parametrize("arch", ARCHS)
def test_long_exchanges_go_through_memory(arch: str) -> None:
    a = integers((32, 32), "float16")  # 31 shuffles and 320 selections would cost more
    kernel = run(blocks(32, 32, "float16"), arch, a, np.zeros_like(a))
    assert "passes through shared memory" in remarks(kernel)


@T.prim_func
def renamed(A: T.Tensor((32, 4), "float32"), B: T.Tensor((32, 4), "float32")):
    with T.Kernel(1, threads=32):
        a = T.alloc_fragment((32, 4), "float32")
        b = T.alloc_fragment((32, 4), "float32")
        T.annotate_layout(
            {
                a: T.Fragment((32, 4), forward_fn=lambda i, j: (i, j)),
                b: T.Fragment((32, 4), forward_fn=lambda i, j: (i, j ^ (i % 4))),
            }
        )
        T.copy(A, a)
        for i, j in T.Parallel(32, 4):
            b[i, j] = a[i, j] + 1
        T.copy(b, B)


@pytest.mark.parametrize("arch", ARCHS)
def test_registers_of_a_thread_change_their_names(arch: str) -> None:
    a = integers((32, 4), "float32")
    kernel = run(renamed, arch, a, np.zeros_like(a))
    assert "shfl" not in kernel.ptx
    assert "st.shared" not in kernel.ptx
    assert "'a' is needed by other registers of its threads: 8 selections" in remarks(kernel)


def chained(dtype: str, middle: str, policy: T.GemmWarpPolicy, threads: int = 128):
    """Two gemms: the accumulator of the first is an operand of the second."""
    accum = "int32" if dtype == "int8" else "float32"

    @T.prim_func
    def main(
        A: T.Tensor((64, 64), dtype),
        B: T.Tensor((64, 64), dtype),
        C: T.Tensor((64, 64), accum),
    ):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared((64, 64), dtype)
            b = T.alloc_shared((64, 64), dtype)
            first = T.alloc_fragment((64, 64), accum)
            between = T.alloc_fragment((64, 64), dtype)
            second = T.alloc_fragment((64, 64), accum)
            T.copy(A, a)
            T.copy(B, b)
            T.clear(first)
            T.clear(second)
            T.gemm(a, b, first, policy=policy)
            for i, j in T.Parallel(64, 64):
                between[i, j] = T.cast(first[i, j] % 3 if accum == "int32" else first[i, j], dtype)
            if middle == "A":
                T.gemm(between, b, second, policy=policy)
            elif middle == "transposed A":
                T.gemm(between, b, second, transpose_A=True, policy=policy)
            else:
                T.gemm(a, between, second, policy=policy)
            T.copy(second, C)

    return main


@pytest.mark.parametrize("policy", [T.GemmWarpPolicy.FullRow, T.GemmWarpPolicy.Square])
@pytest.mark.parametrize("middle", ["A", "transposed A", "B"])
@pytest.mark.parametrize("dtype", ["float16", "int8"])
@pytest.mark.parametrize("arch", ARCHS)
def test_accumulators_become_operands(arch: str, dtype: str, middle: str, policy) -> None:
    a, b = integers((64, 64), dtype), np.sign(integers((64, 64), dtype, 1)).astype(dtype)
    c = np.zeros((64, 64), "int32" if dtype == "int8" else "float32")
    kernel = run(chained(dtype, middle, policy), arch, a // 2, b // 2, c)
    assert "leaves the tensor cores" not in remarks(kernel)
    if middle == "A" and policy == T.GemmWarpPolicy.FullRow:
        # float16: the same threads hold both; bytes lie on other lanes of the warp.
        # One shuffle may number the warps, of which one starts bulk copies.
        assert (kernel.ptx.count("shfl.sync") > 1) == (dtype == "int8")
        assert "passes through shared memory" not in remarks(kernel)


@T.prim_func
def accumulate_in_shared(
    A: T.Tensor((64, 32), "float16"),
    B: T.Tensor((32, 64), "float16"),
    C: T.Tensor((64, 64), "float32"),
    D: T.Tensor((64, 128), "float32"),
):
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((64, 32), "float16")
        b = T.alloc_shared((32, 64), "float16")
        c = T.alloc_shared((64, 64), "float32")
        d = T.alloc_fragment((64, 128), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.copy(C, c)
        T.copy(D, d)
        T.gemm(a, b, c)
        T.gemm(a, b, d[0:64, 64:128])
        T.copy(c, C)
        T.copy(d, D)


@pytest.mark.parametrize("arch", ARCHS)
def test_accumulators_in_memory_and_parts_of_fragments(arch: str) -> None:
    a, b = integers((64, 32), "float16"), integers((32, 64), "float16", 1)
    c, d = integers((64, 64), "float32", 2), integers((64, 128), "float32", 3)
    kernel = run(accumulate_in_shared, arch, a, b, c, d)
    assert len(re.findall(r"mma\.sync", kernel.ptx)) >= 2 * 4 * 2 * 2
    assert "leaves the tensor cores" not in remarks(kernel)


@T.prim_func
def scan_accumulator(
    A: T.Tensor((64, 32), "float16"),
    B: T.Tensor((32, 64), "float16"),
    C: T.Tensor((64, 64), "float32"),
    D: T.Tensor((1,), "float32"),
):
    with T.Kernel(1, threads=64):
        a = T.alloc_shared((64, 32), "float16")
        b = T.alloc_shared((32, 64), "float16")
        c = T.alloc_fragment((64, 64), "float32")
        T.copy(A, a)
        T.copy(B, b)
        T.clear(c)
        T.gemm(a, b, c)
        T.cumsum(c, dim=1)
        for i, j in T.Parallel(64, 64):
            if j > 0:
                c[i, j] = c[i, j] + 1
        D[0] = c[3, 5]
        T.gemm(a, b, c)
        T.copy(c, C)


@pytest.mark.parametrize("arch", ARCHS)
def test_a_scan_borrows_an_accumulator(arch: str) -> None:
    a, b = integers((64, 32), "float16"), integers((32, 64), "float16", 1)
    kernel = run(
        scan_accumulator, arch, a, b, np.zeros((64, 64), "float32"), np.zeros(1, "float32")
    )
    assert "'c' passes through shared memory: a scan" in remarks(kernel)
    assert "leaves the tensor cores" not in remarks(kernel)
