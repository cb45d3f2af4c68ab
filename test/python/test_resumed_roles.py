"""Roles that wait for each other in loops of different bounds, in branches and in `while` loops."""

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright import TilewrightError

ENGINES = ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90a"]
STAGES, TILE = 2, 64


def split_loops(n=5):
    """A producer with one loop, and a consumer with a prologue and two loops."""

    @T.prim_func
    def main(A: T.Tensor((n * TILE,), "float32"), B: T.Tensor((n * TILE,), "float32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            s = T.alloc_shared((STAGES, TILE), "float32")
            ready = T.alloc_barrier([32] * STAGES)
            free = T.alloc_barrier([32] * STAGES)
            if tx < 32:
                for k in T.serial(n):
                    T.mbarrier_wait_parity(free[k % STAGES], (k // STAGES + 1) % 2)
                    T.copy(A[k * TILE : (k + 1) * TILE], s[k % STAGES, :])
                    T.mbarrier_arrive(ready[k % STAGES])
            else:
                T.mbarrier_wait_parity(ready[0], 0)
                for i in T.Parallel(TILE):
                    B[i] = s[0, i] + 1.0
                T.mbarrier_arrive(free[0])
                for k in T.serial(1, n // 2):
                    T.mbarrier_wait_parity(ready[k % STAGES], k // STAGES % 2)
                    for i in T.Parallel(TILE):
                        B[k * TILE + i] = s[k % STAGES, i] * 2.0
                    T.mbarrier_arrive(free[k % STAGES])
                for k in T.serial(n // 2, n):
                    T.mbarrier_wait_parity(ready[k % STAGES], k // STAGES % 2)
                    for i in T.Parallel(TILE):
                        B[k * TILE + i] = s[k % STAGES, i] * 3.0
                    T.mbarrier_arrive(free[k % STAGES])

    a = np.arange(n * TILE, dtype=np.float32)
    expected = a * 3
    expected[: n // 2 * TILE] = a[: n // 2 * TILE] * 2
    expected[:TILE] = a[:TILE] + 1
    return main, (a,), expected


def branches_on_data(n=6):
    """Both roles skip tiles that a tensor says are empty; each counts those it has done."""

    @T.prim_func
    def main(
        A: T.Tensor((n * TILE,), "float32"),
        Used: T.Tensor((n,), "int32"),
        B: T.Tensor((n * TILE,), "float32"),
    ):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            s = T.alloc_shared((STAGES, TILE), "float32")
            ready = T.alloc_barrier([32] * STAGES)
            free = T.alloc_barrier([32] * STAGES)
            if tx < 32:
                made = T.alloc_var("int32")
                made = 0
                for k in T.serial(n):
                    if Used[k] != 0:
                        T.mbarrier_wait_parity(free[made % STAGES], (made // STAGES + 1) % 2)
                        T.copy(A[k * TILE : (k + 1) * TILE], s[made % STAGES, :])
                        T.mbarrier_arrive(ready[made % STAGES])
                        made += 1
            else:
                taken = T.alloc_var("int32")
                taken = 0
                for k in T.serial(n):
                    if Used[k] != 0:
                        T.mbarrier_wait_parity(ready[taken % STAGES], taken // STAGES % 2)
                        for i in T.Parallel(TILE):
                            B[k * TILE + i] = s[taken % STAGES, i] + taken
                        T.mbarrier_arrive(free[taken % STAGES])
                        taken += 1
                    else:
                        for i in T.Parallel(TILE):
                            B[k * TILE + i] = -1.0

    a = np.arange(n * TILE, dtype=np.float32)
    used = np.array([1, 0, 1, 1, 0, 1], np.int32)[:n]
    number = np.repeat(np.cumsum(used) - 1, TILE)
    expected = np.where(np.repeat(used, TILE) != 0, a + number, -1).astype(np.float32)
    return main, (a, used), expected


def while_loops(n=7):
    """Both roles go round until a tensor's chain of indices ends."""

    @T.prim_func
    def main(
        A: T.Tensor((n, TILE), "float32"), Next: T.Tensor((n,), "int32"),
        B: T.Tensor((n, TILE), "float32"),
    ):  # fmt: skip
        with T.Kernel(1, threads=96):
            tx = T.get_thread_binding()
            s = T.alloc_shared((TILE,), "float32")
            ready = T.alloc_barrier([32])
            free = T.alloc_barrier([64])
            T.fill(B, -1.0)
            if tx < 32:
                at = T.alloc_var("int32")
                at = 0
                phase = T.alloc_var("int32")
                phase = 1
                while at >= 0:
                    T.barrier_wait(free, phase)
                    phase = 1 - phase
                    T.copy(A[at, :], s)
                    T.barrier_arrive(ready)
                    at = Next[at]
            else:
                here = T.alloc_var("int32")
                here = 0
                parity = T.alloc_var("int32")
                parity = 0
                while here >= 0:
                    T.barrier_wait(ready, parity)
                    parity = 1 - parity
                    for i in T.Parallel(TILE):
                        B[here, i] = s[i] * 2.0
                    T.barrier_arrive(free)
                    here = Next[here]

    a = np.arange(n * TILE, dtype=np.float32).reshape(n, TILE)
    chain = np.array([3, -1, 1, 5, 0, 2, 0], np.int32)
    expected = np.full_like(a, -1)
    for row in (0, 3, 5, 2, 1):
        expected[row] = 2 * a[row]
    return main, (a, chain), expected


def turns(n=4):
    """Two roles that hand the turn to each other by numbered barriers, and a third that feeds them
    from one loop; what a thread has read before a wait is used after it."""

    @T.prim_func
    def main(A: T.Tensor((n, 64), "float32"), Order: T.Tensor((2 * n,), "int32"),
             B: T.Tensor((n, 64), "float32"), Log: T.Tensor((2 * n,), "int32")):  # fmt: skip
        with T.Kernel(1, threads=96):
            tx = T.get_thread_binding()
            s = T.alloc_shared((n, 64), "float32")
            number = T.alloc_shared((1,), "int32")
            ready = T.alloc_barrier([32])
            T.fill(number, 0)
            T.sync_threads()
            if tx >= 64:
                for k in T.serial(n):
                    T.copy(A[k, :], s[k, :])
                T.barrier_arrive(ready)
            elif tx < 32:
                T.barrier_wait(ready, 0)
                for k in T.serial(n):
                    own = A[k, tx]
                    T.sync_threads(1, 64)
                    B[k, tx] = s[k, tx] + own
                    if tx == 0:
                        Log[number[0]] = 1
                        number[0] = number[0] + 1
                    T.named_barrier_arrive(2, 64)
            else:
                T.barrier_wait(ready, 0)
                T.named_barrier_arrive(1, 64)
                for k in T.serial(n):
                    T.sync_threads(2, 64)
                    if Order[k] >= 0:
                        B[k, tx] = s[k, tx] * 3.0
                    if tx == 32:
                        Log[number[0]] = 2
                        number[0] = number[0] + 1
                    if k + 1 < n:
                        T.named_barrier_arrive(1, 64)

    a = np.arange(n * 64, dtype=np.float32).reshape(n, 64)
    expected = np.concatenate([a[:, :32] * 2, a[:, 32:] * 3], 1)
    return main, (a, np.zeros(2 * n, np.int32)), (expected, np.tile([1, 2], n).astype(np.int32))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("program", [split_loops, branches_on_data, while_loops, turns])
def test_roles_go_on_where_they_stopped(program, engine):
    main, arguments, expected = program()
    expected = expected if isinstance(expected, tuple) else (expected,)
    results = [np.full(e.shape, 77, e.dtype) for e in expected]
    tilewright.compile(main, device=engine)(*arguments, *results)
    for result, want in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deadlock_of_resumed_roles_is_an_error(engine):
    @T.prim_func
    def main(A: T.Tensor((4,), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            one = T.alloc_barrier([32])
            other = T.alloc_barrier([32])
            if tx < 32:
                for k in T.serial(A[0]):
                    T.barrier_wait(one, k % 2)
                    T.barrier_arrive(other)
            else:
                for k in T.serial(A[1]):
                    T.barrier_wait(other, k % 2)
                    T.barrier_arrive(one)
            B[0] = 1

    kernel = tilewright.compile(main, device=engine)
    result = np.zeros(4, np.int32)
    kernel(np.zeros(4, np.int32), result)
    assert result[0] == 1
    with pytest.raises(TilewrightError, match="wait"):
        kernel(np.ones(4, np.int32), result)
