"""What a thread allocates, skips and leaves under conditions of its own."""

from __future__ import annotations

import numpy as np
import pytest
import tilewright
import tilewright.language as T

N = 64
DEVICES = ["interp", "cpu", "vgpu:sm_80"]


def make(kind: str):
    """A program in which thread `tx` gives B[tx]; each ended the process while it was traced."""

    @T.prim_func
    def variable_under_data(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            if A[tx] > 3:
                v = T.alloc_var("int32", init=3)
                v = v + A[tx]
                B[tx] = v

    @T.prim_func
    def array_in_a_loop(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            for i in T.serial(tx % 4):
                l = T.alloc_local((2,), "int32")
                l[0] = i
                l[1] = A[tx]
                B[tx] = B[tx] + l[i & 1]

    @T.prim_func
    def continues(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            for i in T.serial(6):
                if A[tx] == i:
                    continue
                B[tx] = B[tx] + i

    @T.prim_func
    def continues_between_threads(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            s = T.alloc_shared((N,), "int32")
            s[tx] = A[tx]
            for i in T.serial(3):
                if tx % 4 == i:
                    continue
                v = T.alloc_var("int32", init=1)
                v = v + s[N - 1 - tx]
                s[tx] = v
            B[tx] = s[tx]

    @T.prim_func
    def breaks(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            for i in T.serial(6):
                v = T.alloc_var("int32", init=i)
                if A[tx] == i:
                    break
                B[tx] = B[tx] + v

    @T.prim_func
    def merges_integers(A: T.Tensor((N,), "int32"), B: T.Tensor((N,), "int32")):
        with T.Kernel(1, threads=N):
            tx = T.get_thread_binding()
            if A[tx] > 2:
                z = 1
            else:
                z = 2
            B[tx] = z

    return locals()[kind]


def expect(kind: str, a: np.ndarray) -> np.ndarray:
    """The same, thread by thread, one statement after another."""
    if kind == "variable_under_data":
        return np.where(a > 3, a + 3, 0)
    if kind == "array_in_a_loop":
        return np.array([sum((i, x)[i & 1] for i in range(t % 4)) for t, x in enumerate(a)])
    if kind == "continues":
        return 15 - a
    if kind == "breaks":
        return a * (a - 1) // 2
    if kind == "merges_integers":
        return np.where(a > 2, 1, 2)
    s = a.copy()
    for i in range(3):
        s = np.where(np.arange(N) % 4 == i, s, s[::-1] + 1)
    return s


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "kind",
    ["variable_under_data", "array_in_a_loop", "continues", "continues_between_threads", "breaks",
     "merges_integers"],
)  # fmt: skip
def test_under_a_condition_of_the_thread(kind: str, device: str) -> None:
    a = np.random.default_rng(3).integers(0, 6, N).astype(np.int32)
    b = np.zeros(N, np.int32)
    tilewright.compile(make(kind), device=device)(a, b)
    assert b.tolist() == expect(kind, a).tolist()


def test_a_tile_in_a_loop_that_threads_leave_is_refused_at_its_line() -> None:
    with pytest.raises(tilewright.TilewrightError, match="threads leave this loop") as caught:

        @T.prim_func
        def main(A: T.Tensor((N,), "int32")):
            with T.Kernel(1, threads=N):
                tx = T.get_thread_binding()
                for _ in T.serial(tx % 3):
                    s = T.alloc_shared((N,), "int32")
                    T.fill(s, 1)
                    A[tx] = s[tx]

    assert caught.value.location.file == __file__
