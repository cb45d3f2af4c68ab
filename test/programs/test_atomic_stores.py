"""`T.atomic_store` has one meaning on every engine: the element has the value afterwards."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T
from on_engines import ON_ALL

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "uint64")


@ON_ALL
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_stored(device: str, dtype: str) -> None:
    """An odd number of elements: those of 8 bits share words with their neighbours."""

    @T.prim_func
    def main(A: T.Tensor((37,), dtype), B: T.Tensor((37,), dtype)):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(37):
                T.atomic_store(B[i], A[i] + A[i], memory_order="relaxed")

    a = (np.arange(37) % 23).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    b = np.zeros(37, a.dtype)
    kernel = tilewright.compile(main, device=device)
    kernel(a, b)
    assert kernel.findings == []
    np.testing.assert_array_equal(b, a + a)


@ON_ALL
@pytest.mark.parametrize("order", ["relaxed", "release", "seq_cst"])
def test_a_flag_is_stored_once_its_data_is(device: str, order: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), F: T.Tensor((2,), "int32")):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((4,), "int32")
            T.clear(s)
            for i in T.Parallel(64):
                A[i] = A[i] * 2.0
            T.atomic_store(s[1], 5)
            T.atomic_store(F[0], s[1] + 2, memory_order=order)

    a, f = np.arange(64, dtype=np.float32), np.zeros(2, np.int32)
    kernel = tilewright.compile(main, device=device)
    kernel(a, f)
    assert {finding["severity"] for finding in kernel.findings} <= {"note"}  # races unwatched
    np.testing.assert_array_equal(f, [7, 0])


def test_gpu_code_has_the_order() -> None:
    @T.prim_func
    def main(F: T.Tensor((2,), "int32")):
        with T.Kernel(1, threads=32):
            T.atomic_store(F[0], 1, memory_order="release")
            T.atomic_store(F[1], 1)

    ptx = tilewright.compile(main, device="vgpu:sm_80").ir("ptx")
    assert "atom.release.gpu.global.exch.b32" in ptx
    assert "fence.sc.gpu;" in ptx and "atom.acq_rel.gpu.global.exch.b32" in ptx


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
def test_iterations_may_store_equal_values_only(device: str) -> None:
    @T.prim_func
    def equal(B: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                T.atomic_store(B[i // 16], 3)

    b = np.zeros(4, np.int32)
    tilewright.compile(equal, device=device)(b)
    np.testing.assert_array_equal(b, [3, 3, 3, 3])
    with pytest.raises(tilewright.TilewrightError, match="store different values to the same"):

        @T.prim_func
        def other(B: T.Tensor((4,), "int32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(64):
                    T.atomic_store(B[i // 16], i)

        tilewright.compile(other, device=device)(b)


def test_stores_at_run_time_indices_are_watched() -> None:
    @T.prim_func
    def main(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(8):
                T.atomic_store(B[A[i]], i, memory_order="relaxed")

    kernel = tilewright.compile(main, device="interp")
    b = np.zeros(8, np.int32)
    kernel(np.arange(8, dtype=np.int32)[::-1].copy(), b)
    assert kernel.findings == []
    with pytest.raises(tilewright.TilewrightError, match=r"\(4\) atomically stores element \[3\]"):
        kernel(np.array([0, 1, 2, 3, 3, 5, 6, 7], np.int32), b)


@pytest.mark.parametrize("order", ["acquire", "later"])
def test_orders_that_no_store_has_are_refused(order: str) -> None:
    with pytest.raises(tilewright.TilewrightError, match="memory_order is relaxed, release or seq"):

        @T.prim_func
        def main(B: T.Tensor((4,), "int32")):
            with T.Kernel(1, threads=32):
                T.atomic_store(B[0], 1, memory_order=order)
