"""Accesses inside branches: as wide as the branch allows, and never another element's."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tilewright
import tilewright.language as T

N = 128

#: Each condition as the kernel writes it, as numpy does, and the width of the accesses under it.
CONDITIONS = {
    "edge of a vector": (lambda i, j, n: i * 4 + j < 96, lambda i, j, n: i * 4 + j < 96, 4),
    "edge inside a vector": (lambda i, j, n: i * 4 + j < 98, lambda i, j, n: i * 4 + j < 98, 2),
    "odd edge": (lambda i, j, n: i * 4 + j < 97, lambda i, j, n: i * 4 + j < 97, 1),
    "row": (lambda i, j, n: i >= 5, lambda i, j, n: i >= 5, 4),
    "one column": (lambda i, j, n: j != 2, lambda i, j, n: j != 2, 1),
    "one row": (lambda i, j, n: i == 3, lambda i, j, n: i == 3, 4),
    "two": (
        lambda i, j, n: (i > 2) & (i * 4 + j < 64),
        lambda i, j, n: (i > 2) & (i * 4 + j < 64),
        4,
    ),
    "either": (
        lambda i, j, n: (i == 2) | (i * 4 + j >= 66),
        lambda i, j, n: (i == 2) | (i * 4 + j >= 66),
        2,
    ),
    "a number": (lambda i, j, n: n > 3, lambda i, j, n: n > 3 + 0 * i, 4),
}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", CONDITIONS)
def test_width_and_values(name: str, arch: str) -> None:
    condition, expected, width = CONDITIONS[name]

    @T.prim_func
    def main(A: T.Tensor((32, 4), "float32"), B: T.Tensor((32, 4), "float32"), n: T.int32):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(32, 4):
                if condition(i, j, n):
                    B[i, j] = A[i, j] * 2.0
                else:
                    B[i, j] = B[i, j] + 1.0

    kernel = tilewright.compile(main, device=f"vgpu:{arch}")
    for n in (2, 5):
        a = np.arange(N, dtype=np.float32).reshape(32, 4)
        b = -a
        kernel(a, b, n)
        i, j = np.meshgrid(np.arange(32), np.arange(4), indexing="ij")
        np.testing.assert_array_equal(b, np.where(expected(i, j, n), 2 * a, 1 - a))
        assert not kernel.findings
    forms = {1: "ld.global.b32", 2: "ld.global.v2.b32", 4: "ld.global.v4.b32"}
    assert forms[width] in kernel.ptx.replace("f32", "b32").replace(".nc", "")
    if width > 1:
        assert forms[1] not in kernel.ptx.replace("f32", "b32").replace(".nc", "")


def test_nested_branches_and_values() -> None:
    """A wide access in an inner branch beside a narrow one in the outer, values out of a branch."""

    @T.prim_func
    def main(
        A: T.Tensor((16, 8), "float16"),
        B: T.Tensor((16, 8), "float16"),
        C: T.Tensor((8, 16), "float16"),
    ):
        with T.Kernel(1, threads=16):
            for i, j in T.Parallel(16, 8):
                if i > 1:
                    C[j, i] = A[i, j]
                    if i * 8 + j < 64:
                        B[i, j] = A[i, j] + T.cast(1, "float16")
                    else:
                        B[i, j] = A[i, j] - T.cast(1, "float16")

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    a = np.arange(128, dtype=np.float16).reshape(16, 8)
    b, c = np.full((16, 8), 9, np.float16), np.full((8, 16), 9, np.float16)
    kernel(a, b, c)
    row = np.arange(16)[:, None] + 0 * np.arange(8)
    np.testing.assert_array_equal(b, np.where(row > 1, np.where(row < 8, a + 1, a - 1), 9))
    np.testing.assert_array_equal(c, np.where(row > 1, a, 9).T)
    assert not kernel.findings


def test_tail_of_a_dynamic_tensor() -> None:
    n = T.symbolic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 256), threads=64) as block:
            for j in T.Parallel(256):
                if block * 256 + j < n:
                    B[block * 256 + j] = A[block * 256 + j] * 2.0

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    assert not re.search(r"ld\.global(\.nc)?\.v4", kernel.ptx)
    assert "ld.global.nc.v4" in kernel.ir("ptx", divisible=["n"])
    for length in (0, 16, 272, 1024, 1023, 1):
        a, b = np.arange(length, dtype=np.float32), np.zeros(length, np.float32)
        kernel(a, b)
        np.testing.assert_array_equal(b, 2 * a)
        assert not kernel.findings


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_parts_of_an_accumulator(arch: str) -> None:
    """A branch that keeps a part of the rows does not send the accumulator to memory."""

    @T.prim_func
    def main(
        A: T.Tensor((32, 32), "float16"),
        B: T.Tensor((32, 64), "float16"),
        C: T.Tensor((32, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((32, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((32, 64), "float32")
            part = T.alloc_shared((16, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullCol, clear_accum=True)
            for half in range(2):
                for i, j in T.Parallel(32, 64):
                    if i < 16:
                        part[i, j] = c[i + half * 16, j]
                T.copy(part, C[half * 16, 0])

    kernel = tilewright.compile(main, device=f"vgpu:{arch}")
    random = np.random.default_rng(3)
    a = random.integers(-4, 5, (32, 32)).astype(np.float16)
    b = random.integers(-4, 5, (32, 64)).astype(np.float16)
    c = np.zeros((32, 64), np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    assert not kernel.findings
    assert "mma.sync" in kernel.ptx


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"])
def test_unrolled_index_that_its_branch_keeps_inside(device: str) -> None:
    """GPU code refused `x[-1]`, which the first iteration has in a branch that is never taken; seen
    in the hashes and gates of TileKernels."""

    @T.prim_func
    def main(A: T.Tensor((2, 8), "int32"), B: T.Tensor((64, 2, 8), "int32")):
        with T.Kernel(2, threads=32) as bx:
            tx = T.get_thread_binding()
            x = T.alloc_local((2, 8), "int32")
            y = T.alloc_local((16,), "int32")
            T.copy(A, x)
            for i in T.unroll(3):
                if i > 0:
                    for j in T.unroll(8):
                        y[(i - 1) * 8 + j] = x[i - 1, j] + tx
            for i, j in T.grid(2, 8):
                B[bx * 32 + tx, i, j] = y[i * 8 + j]

    a, b = np.arange(16, dtype=np.int32).reshape(2, 8), np.zeros((64, 2, 8), np.int32)
    kernel = tilewright.compile(main, device=device)
    kernel(a, b)
    assert not kernel.findings
    np.testing.assert_array_equal(b, a + (np.arange(64, dtype=np.int32) % 32)[:, None, None])


@pytest.mark.parametrize("device", ["cpu", "vgpu:sm_80", "vgpu:sm_90"])
def test_an_equality_says_nothing_of_its_other_branch(device: str) -> None:
    """Where `i == 3` fails, `A[i]` may lie outside; where `i != 3` fails, `i` is 3."""

    @T.prim_func
    def main(
        A: T.Tensor((16,), "float32"),
        B: T.Tensor((32,), "float32"),
        C: T.Tensor((32,), "float32"),
    ):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                if i == 3:
                    B[i] = -1.0
                else:
                    B[i] = A[i]
            for i in T.Parallel(32):
                if i != 3:
                    C[i] = A[i]
                else:
                    C[i] = A[i + 1]

    kernel = tilewright.compile(main, device=device)
    a = np.arange(1, 17, dtype=np.float32)
    b, c = np.full(32, 7, np.float32), np.full(32, 7, np.float32)
    kernel(a, b, c)
    inside = np.concatenate([a, np.zeros(16, np.float32)])
    np.testing.assert_array_equal(b, np.where(np.arange(32) == 3, -1, inside))
    np.testing.assert_array_equal(c, np.where(np.arange(32) == 3, a[4], inside))
    assert not kernel.findings
