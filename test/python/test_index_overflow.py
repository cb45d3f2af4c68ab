"""An index value that leaves 64 bits is an error on every engine (docs/semantics.md)."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

DEVICES = ["interp", "cpu", "vgpu:sm_80"]


def make(kind: str):
    """A[...] is written at (n * 4) % 64 or the like."""
    m = T.dynamic("m")

    @T.prim_func
    def product(A: T.Tensor((m,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for k in T.serial(n, n + 1):
                A[k * 4 % 64] = 7

    @T.prim_func
    def shift(A: T.Tensor((m,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for k in T.serial(n, n + 1):
                A[(k << 2) % 64] = 7

    @T.prim_func
    def of_iterations(A: T.Tensor((m,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for k in T.serial(n, n + 1):
                for i in T.Parallel(4):
                    A[(i + 4) * k % 64 + i] = 7

    @T.prim_func
    def of_threads(A: T.Tensor((m,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            for k in T.serial(n, n + 1):
                A[(k * 4 + tx) % 64] = 7

    return locals()[kind]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["product", "shift", "of_iterations", "of_threads"])
def test_products_that_leave_64_bits(kind: str, device: str) -> None:
    """The interpreter refused, compiled code wrote elsewhere."""
    kernel = tilewright.compile(make(kind), device=device)
    a = np.zeros(64, np.int32)
    kernel(a, 3)
    assert a[12] == 7
    a[:] = 0
    with pytest.raises(tilewright.TilewrightError, match="64 bits"):
        kernel(a, 1 << 61)
    assert not a.any()


@pytest.mark.parametrize("device", DEVICES)
def test_products_of_run_time_extents(device: str) -> None:
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), "int32")):
        size = n * n * n * n
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                A[(i + size) % 32] = 7

    kernel = tilewright.compile(main, device=device)
    a = np.zeros(64, np.int32)
    kernel(a)
    assert a[:32].all()
    with pytest.raises(tilewright.TilewrightError, match="64 bits"):
        kernel(np.zeros(70_000, np.int32))


@pytest.mark.parametrize("device", ["cpu", "vgpu:sm_80"])
def test_ordinary_programs_are_not_checked(device: str) -> None:
    """Their ranges prove that there is nothing to check."""
    n, k = T.dynamic("n"), T.dynamic("k")

    @T.prim_func
    def main(A: T.Tensor((n, k), "float16"), B: T.Tensor((n, k), "float16"), rows: T.int32):
        with T.Kernel(T.ceildiv(k, 64), T.ceildiv(n, 64), threads=128) as (bx, by):
            s = T.alloc_shared((64, 64), "float16")
            for r in T.serial(rows):
                T.copy(A[by * 64 + r, bx * 64], s)
                for i, j in T.Parallel(64, 64):
                    B[by * 64 + i, bx * 64 + j] = s[i, j]

    kernel = tilewright.compile(main, device=device)
    if device == "cpu":
        assert "leaves 64 bits" not in kernel.ir("tile-guard-indices")
    else:  # where a text is a list of bytes
        assert "__assertfail" not in kernel.ptx
