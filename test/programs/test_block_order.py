"""Blocks that talk: atomics with a memory order tell of all that a block has done."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

ON_ALL = pytest.mark.parametrize(
    "device", ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90", "vgpu:sm_90a"]
)


def run(func: T.PrimFunc, device: str, *arrays: np.ndarray) -> None:
    """Runs a kernel; the virtual GPU may find no race."""
    kernel = tilewright.compile(func, device=device)
    kernel(*arrays)
    assert [found for found in kernel.findings if found["severity"] != "note"] == []


def adds_twice_the_rows(func: T.PrimFunc, device: str) -> None:
    """Of eight blocks, each with a row of its own."""
    a = np.arange(512, dtype=np.float32).reshape(8, 64)
    o = np.zeros(64, np.float32)
    run(func, device, a, np.zeros_like(a), np.zeros(1, np.int32), o)
    np.testing.assert_array_equal(o, 2 * a.sum(0))


@ON_ALL
@pytest.mark.parametrize("order", ["acq_rel", "seq_cst"])
def test_the_last_block_adds_what_all_have_written(device: str, order: str) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((8, 64), "float32"), W: T.Tensor((8, 64), "float32"),
        Count: T.Tensor((1,), "int32"), O: T.Tensor((64,), "float32"),
    ):  # fmt: skip
        with T.Kernel(8, threads=64) as b:
            before = T.alloc_var("int32")
            for i in T.Parallel(64):
                W[b, i] = A[b, i] * 2
            before = T.atomic_add(Count[0], 1, memory_order=order, return_prev=True)
            if before == 7:
                total = T.alloc_fragment((64,), "float32")
                T.clear(total)
                for k in T.serial(8):
                    for i in T.Parallel(64):
                        total[i] += W[k, i]
                T.copy(total, O)

    adds_twice_the_rows(main, device)


@ON_ALL
def test_one_thread_speaks_for_its_block(device: str) -> None:
    """`T.sync_threads` in front of the atomic of thread 0 is what CUDA programs write."""

    @T.prim_func
    def main(
        A: T.Tensor((8, 64), "float32"), W: T.Tensor((8, 64), "float32"),
        Count: T.Tensor((1,), "int32"), O: T.Tensor((64,), "float32"),
    ):  # fmt: skip
        with T.Kernel(8, threads=64) as b:
            tx = T.get_thread_binding()
            before = T.alloc_shared((1,), "int32")
            W[b, tx] = A[b, tx] * 2
            T.sync_threads()
            if tx == 0:
                before[0] = T.atomic_add(Count[0], 1, memory_order="acq_rel", return_prev=True)
            T.sync_threads()
            if before[0] == 7:
                total = T.alloc_var("float32")
                total = 0.0
                for k in T.serial(8):
                    total = total + W[k, tx]
                O[tx] = total

    adds_twice_the_rows(main, device)


@ON_ALL
def test_one_thread_waits_for_its_block(device: str) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((4, 64), "float32"), W: T.Tensor((4, 64), "float32"), F: T.Tensor((4,), "int32")
    ):
        with T.Kernel(4, threads=64) as b:
            tx = T.get_thread_binding()
            x = T.alloc_var("float32")
            x = A[b, tx]
            if b > 0:
                if tx == 0:
                    while T.atomic_load(F[b - 1], memory_order="acquire") == 0:
                        T.evaluate(0)
                T.sync_threads()
                x = x + W[b - 1, 63 - tx]
            W[b, tx] = x
            T.sync_threads()
            if tx == 0:
                T.atomic_store(F[b], 1, memory_order="release")

    a = np.arange(256, dtype=np.float32).reshape(4, 64)
    w = np.zeros_like(a)
    run(main, device, a, w, np.zeros(4, np.int32))
    expected = a.copy()
    for k in range(1, 4):
        expected[k] += expected[k - 1, ::-1]
    np.testing.assert_array_equal(w, expected)


@ON_ALL
def test_threads_of_a_loop_tell_after_each_iteration(device: str) -> None:
    """Threads may not run such a loop each at its own pace."""

    @T.prim_func
    def main(
        W: T.Tensor((4, 64), "int32"), F: T.Tensor((4,), "int32"), O: T.Tensor((64,), "int32")
    ):
        with T.Kernel(2, threads=64) as b:
            tx = T.get_thread_binding()
            if b == 0:
                for k in T.serial(4):
                    W[k, tx] = 10 * k + tx
                    if tx == 0:
                        T.atomic_store(F[k], 1, memory_order="release")
            else:
                total = T.alloc_var("int32")
                total = 0
                for k in T.serial(4):
                    if tx == 0:
                        while T.atomic_load(F[k], memory_order="acquire") == 0:
                            T.evaluate(0)
                    total = total + W[k, 63 - tx]
                O[tx] = total

    o = np.zeros(64, np.int32)
    run(main, device, np.zeros((4, 64), np.int32), np.zeros(4, np.int32), o)
    np.testing.assert_array_equal(o, 60 + 4 * np.arange(64)[::-1])


@ON_ALL
def test_tiles_pass_from_block_to_block(device: str) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((5, 64, 64), "float16"), W: T.Tensor((5, 64, 64), "float16"),
        F: T.Tensor((5,), "int32"),
    ):  # fmt: skip
        with T.Kernel(5, threads=128) as b:
            s = T.alloc_shared((64, 64), "float16")
            t = T.alloc_shared((64, 64), "float16")
            T.copy(A[b, 0:64, 0:64], s)
            if b > 0:
                while T.atomic_load(F[b - 1], memory_order="acquire") == 0:
                    T.evaluate(0)
                T.copy(W[b - 1, 0:64, 0:64], t)
                for i, j in T.Parallel(64, 64):
                    s[i, j] += t[i, j]
            T.copy(s, W[b, 0:64, 0:64])
            T.atomic_store(F[b], 1, memory_order="release")

    a = np.random.default_rng(0).integers(-5, 6, (5, 64, 64)).astype(np.float16)
    w = np.zeros_like(a)
    run(main, device, a, w, np.zeros(5, np.int32))
    np.testing.assert_array_equal(w, np.cumsum(a.astype(np.float32), 0).astype(np.float16))


@ON_ALL
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_pipeline_waits_for_other_blocks(device: str, stages: int) -> None:
    """The copy of the next iteration may not start before that iteration has waited."""

    @T.prim_func
    def main(
        A: T.Tensor((4, 64, 64), "float16"), W: T.Tensor((4, 64, 64), "float16"),
        F: T.Tensor((4,), "int32"), C: T.Tensor((64, 64), "float32"),
    ):  # fmt: skip
        with T.Kernel(5, threads=128) as b:
            s = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            if b < 4:
                T.copy(A[b, 0:64, 0:64], s)
                T.copy(s, W[b, 0:64, 0:64])
                T.atomic_store(F[b], 1, memory_order="release")
            else:
                T.clear(c)
                for k in T.Pipelined(4, num_stages=stages):
                    while T.atomic_load(F[k], memory_order="acquire") == 0:
                        T.evaluate(0)
                    T.copy(W[k, 0:64, 0:64], s)
                    T.gemm(s, s, c)
                T.copy(c, C)

    a = np.random.default_rng(1).integers(-2, 3, (4, 64, 64)).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    run(main, device, a, np.zeros_like(a), np.zeros(4, np.int32), c)
    np.testing.assert_array_equal(c, sum(x @ x for x in a.astype(np.float32)))


@ON_ALL
def test_all_threads_may_wait_and_tell(device: str) -> None:
    """Atomics that do the same however often they run need no `if tx == 0:`."""

    @T.prim_func
    def main(
        A: T.Tensor((4, 64), "int32"), W: T.Tensor((4, 64), "int32"), F: T.Tensor((4,), "int32"),
        M: T.Tensor((1,), "int32"),
    ):  # fmt: skip
        with T.Kernel(4, threads=64) as b:
            tx = T.get_thread_binding()
            W[b, tx] = A[b, tx]
            if b > 0:
                while T.atomic_load(F[b - 1], memory_order="acquire") == 0:
                    T.evaluate(0)
                while T.atomic_or(F[b - 1], 0, memory_order="acquire", return_prev=True) == 0:
                    T.evaluate(0)
                W[b, tx] = A[b, tx] + W[b - 1, 63 - tx]
            T.atomic_max(M[0], W[b, 0])
            T.atomic_or(F[b], 1, memory_order="release")

    a = np.arange(256, dtype=np.int32).reshape(4, 64)
    w, m = np.zeros_like(a), np.zeros(1, np.int32)
    run(main, device, a, w, np.zeros(4, np.int32), m)
    expected = a.copy()
    for k in range(1, 4):
        expected[k] += expected[k - 1, ::-1]
    np.testing.assert_array_equal(w, expected)
    assert m[0] == expected[:, 0].max()
