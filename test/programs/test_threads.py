"""Programs that name their threads: each statement is done by all threads before the next one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T

DEVICES = ["interp", "cpu", "vgpu:sm_80", "vgpu:sm_90"]
ON_ALL = pytest.mark.parametrize("device", DEVICES)


def run(func: Any, device: str, *arrays: np.ndarray, notes: tuple[str, ...] = ()) -> None:
    """Runs a kernel; nothing but notes of the kinds `notes` may be found."""
    kernel = tilewright.compile(func, device=device)
    kernel(*arrays)
    assert {finding["kind"] for finding in kernel.findings} <= set(notes)


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(dtype)


@ON_ALL
def test_threads_see_what_others_have_written(device: str) -> None:
    """No barrier is written, and none is needed: neither between statements nor in a branch."""

    @T.prim_func
    def main(A: T.Tensor((2, 128), "float32"), B: T.Tensor((2, 128), "float32")):
        with T.Kernel(2, threads=128) as bx:
            tx = T.get_thread_binding()
            s = T.alloc_shared((128,), "float32")
            s[tx] = A[bx, tx]
            y = s[127 - tx]  # of another thread
            s[tx] = y + 1.0  # after all have read
            if tx < 64:
                B[bx, tx] = s[tx + 64]
            else:
                B[bx, tx] = s[tx - 64]

    a = numbers(2, 128)
    b = np.zeros_like(a)
    run(main, device, a, b)
    expected = a[:, ::-1] + 1
    np.testing.assert_array_equal(b, np.roll(expected, 64, axis=1))


@ON_ALL
def test_branch_of_threads_that_meet_inside(device: str) -> None:
    """A suffix sum by half of the threads: the loop inside the branch is cut at each step."""

    @T.prim_func
    def main(A: T.Tensor((256,), "int32"), B: T.Tensor((256,), "int32")):
        with T.Kernel(1, threads=512):
            tx = T.get_thread_binding()
            s = T.alloc_shared((256,), "int32")
            mine = T.alloc_var("int32")
            if tx < 256:
                s[tx] = A[tx]
                for i in T.serial(8):
                    T.sync_threads(3, 256)
                    if tx < 256 - (1 << i):
                        mine = s[tx] + s[tx + (1 << i)]
                    T.sync_threads(3, 256)
                    if tx < 256 - (1 << i):
                        s[tx] = mine
                B[tx] = s[tx]

    a = numbers(256, dtype="int32")
    b = np.zeros_like(a)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a[::-1].cumsum()[::-1])


@ON_ALL
def test_branch_that_no_thread_takes(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            s = T.alloc_shared((32,), "int32")
            own = T.alloc_var("int32", init=1)
            common = T.alloc_var("int32", init=5)
            T.fill(s, 0)
            if tx % 2 == 0:
                if tx % 2 == 0:
                    own = A[tx]
                    s[3] = 6
                else:
                    own = common + 1
                    s[3] = common
            B[tx] = own + s[3]

    a, b = numbers(32, dtype="int32"), np.zeros(32, np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, np.where(np.arange(32) % 2 == 0, a, 1) + 6)


@ON_ALL
@pytest.mark.parametrize("picked", ["by the loop", "by data"])
def test_arrays_of_threads(device: str, picked: str) -> None:
    """`T.alloc_local`: in registers, or in shared memory where data pick the element."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 4), "float32"), P: T.Tensor((64,), "int32"), B: T.Tensor((64,), "float32")
    ):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding(0)
            row = T.alloc_local((4,), "float32")
            total = T.alloc_local((1,), "float32")
            T.clear(total)
            T.copy(A[tx, 0:4], row)
            for i in T.serial(4):
                total[0] += row[i] * (i + 1)
            if picked == "by data":
                total[0] += row[P[tx]]
            B[tx] = total[0]

    a, p, b = numbers(64, 4), np.arange(64, dtype=np.int32) % 4, np.zeros(64, np.float32)
    run(main, device, a, p, b)
    chosen = a[np.arange(64), p] if picked == "by data" else 0
    np.testing.assert_array_equal(b, a @ np.array([1, 2, 3, 4], np.float32) + chosen)
    if picked == "by the loop" and device.startswith("vgpu"):
        kernel = tilewright.compile(main, device=device)
        assert ".shared" not in kernel.ptx


@ON_ALL
def test_fragment_that_is_an_array_of_threads(device: str) -> None:
    """TileLang programs keep what a thread has read in a fragment, at an index of the loop."""

    @T.prim_func
    def main(A: T.Tensor((4, 64), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            kept = T.alloc_fragment((2, 2), "int32")
            total = T.alloc_var("int32", init=0)
            for i in T.serial(2):
                for j in T.unroll(2):
                    kept[i, j] = A[2 * i + j, 63 - tx]
            for i in T.serial(2):
                total += kept[i, 0] * 10 + kept[i, 1]
            B[tx] = total

    a, b = numbers(4, 64, dtype="int32"), np.zeros(64, np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, (a[0] * 10 + a[1] + a[2] * 10 + a[3])[::-1])


@ON_ALL
def test_threads_in_two_dimensions(device: str) -> None:
    """Split-k: the threads of a column share a sum, and all of them write it."""

    @T.prim_func
    def main(
        A: T.Tensor((64,), "float32"),
        B: T.Tensor((16, 64), "float32"),
        C: T.Tensor((16,), "float32"),
    ):
        with T.Kernel(2, threads=(8, 16)) as bn:
            tn = T.get_thread_binding(0)
            tk = T.get_thread_binding(1)
            part = T.alloc_local((1,), "float32")
            total = T.alloc_shared((8,), "float32")
            if tk == 0:
                total[tn] = 0
            T.clear(part)
            for k in T.serial(T.ceildiv(64, 16)):
                part[0] += A[k * 16 + tk] * B[bn * 8 + tn, k * 16 + tk]
            T.atomic_add(total[tn], part[0])
            C[bn * 8 + tn] = total[tn]

    a, b, c = numbers(64), numbers(16, 64), np.zeros(16, np.float32)
    run(main, device, a, b, c, notes=("same_value", "race"))
    np.testing.assert_array_equal(c, b @ a)


@ON_ALL
def test_statement_of_the_block_in_a_loop_of_threads(device: str) -> None:
    """What has no thread in it is stored once, beside what each thread stores."""

    @T.prim_func
    def main(
        A: T.Tensor((32,), "float32"),
        B: T.Tensor((64, 32), "float32"),
        C: T.Tensor((64,), "float32"),
    ):
        with T.Kernel(1, threads=64):
            tn = T.get_thread_binding(0)
            a = T.alloc_shared((8,), "float32")
            b = T.alloc_shared((64, 8), "float32")
            total = T.alloc_local((1,), "float32")
            T.clear(total)
            for bk in T.serial(4):
                for k in T.serial(8):
                    a[k] = A[bk * 8 + k]
                    b[tn, k] = B[tn, bk * 8 + k]
                for k in T.serial(8):
                    total[0] += a[k] * b[tn, k]
            C[tn] = total[0]

    a, b, c = numbers(32), numbers(64, 32), np.zeros(64, np.float32)
    run(main, device, a, b, c)
    np.testing.assert_array_equal(c, b @ a)


@ON_ALL
def test_loop_that_threads_leave_at_different_times(device: str) -> None:
    @T.prim_func
    def main(N: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            tx = T.thread_binding(0, 64, thread="threadIdx.x")
            total = T.alloc_var("int32", init=0)
            for i in T.serial(N[tx]):
                total += i
            B[tx] = total
            while total > 3:
                total = total // 2
            B[tx] += total * 1000

    n = np.arange(64, dtype=np.int32) % 7
    b = np.zeros_like(n)
    run(main, device, n, b)
    total = n * (n - 1) // 2
    rest = total.copy()
    while (rest > 3).any():
        rest = np.where(rest > 3, rest // 2, rest)
    np.testing.assert_array_equal(b, total + 1000 * rest)


@ON_ALL
def test_shuffles(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((5, 64), "float32")):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            x = A[tx]
            B[0, tx] = T.shfl_xor(x, 5)
            B[1, tx] = T.shfl_down(x, 1)
            B[2, tx] = T.shfl_up(x, 2, 16)
            B[3, tx] = T.tvm_warp_shuffle(0xFFFFFFFF, x, (tx + 3) % 32, 32, 32)
            B[4, tx] = T.warp_reduce_sum(x)

    a, b = numbers(64), np.zeros((5, 64), np.float32)
    run(main, device, a, b)
    lane = np.arange(64)
    base = lane - lane % 32
    np.testing.assert_array_equal(b[0], a[lane ^ 5])
    np.testing.assert_array_equal(b[1], a[np.where(lane % 32 < 31, lane + 1, lane) % 64])
    np.testing.assert_array_equal(b[2], a[np.where(lane % 16 >= 2, lane - 2, lane)])
    np.testing.assert_array_equal(b[3], a[base + (lane + 3) % 32])
    np.testing.assert_array_equal(b[4], np.repeat(a.reshape(2, 32).sum(1), 32))


@ON_ALL
@pytest.mark.parametrize("dim", [0, 1])
def test_reduction_along_a_dimension_of_the_threads(device: str, dim: int) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((8, 16), "float32"),
        B: T.Tensor((8, 16), "float32"),
        C: T.Tensor((16,), "float32"),
    ):
        with T.Kernel(1, threads=(8, 16)):
            index = [T.get_thread_binding(0), T.get_thread_binding(1)]
            total = T.alloc_local((1,), "float32")
            with T.attr(
                T.comm_reducer(lambda x, y: x + y, [T.cast(0, "float32")]),
                "reduce_scope",
                T.reinterpret(T.uint64(0), dtype="handle"),
            ):
                T.evaluate(
                    T.tvm_thread_allreduce(
                        T.uint32(1), A[index[0], index[1]], True, total[0], index[dim],
                        dtype="handle",
                    )
                )  # fmt: skip
            B[index[0], index[1]] = total[0]
            C[index[1 - dim]] = total[0]  # by several threads, with equal values

    a, b, c = numbers(8, 16), np.zeros((8, 16), np.float32), np.zeros(16, np.float32)
    run(main, device, a, b, c, notes=("same_value", "race"))
    np.testing.assert_array_equal(c[: a.shape[1 - dim]], a.sum(dim))
    np.testing.assert_array_equal(b, np.broadcast_to(a.sum(dim, keepdims=True), a.shape))


@ON_ALL
def test_tile_statements_of_some_threads(device: str) -> None:
    """A tile statement under a condition on the thread index runs once, where the text has it."""

    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=96):
            tile = T.alloc_shared((8, 16), "float32")
            if T.get_thread_binding() < 32:
                T.copy(A, tile)
            else:
                total = T.alloc_fragment((8,), "float32")
                part = T.alloc_fragment((8, 16), "float32")
                T.copy(tile, part)
                T.reduce_sum(part, total, dim=1)
                T.copy(total, B)

    a, b = numbers(8, 16), np.zeros(8, np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a.sum(1))


def specialised(first: int, second: int) -> Any:
    """A product whose copies are the duty of warp group `first`, its gemms that of `second`."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 128), "float16"),
        B: T.Tensor((128, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            ready = T.alloc_barrier([128, 128])
            free = T.alloc_barrier(arrive_count=128)
            with T.ws(second):
                T.clear(c)
            for k in range(4):
                with T.ws(first):
                    T.barrier_wait(free, (k + 1) % 2)
                    T.copy(A[0, k * 32], a)
                    T.copy(B[k * 32, 0], b)
                    T.barrier_arrive(ready[k % 2])
                with T.ws(second):
                    T.mbarrier_wait_parity(mbarrier=ready[k % 2], parity=k // 2 % 2)
                    T.gemm(a, b, c)
                    T.barrier_arrive(free)
            with T.ws(second):
                T.copy(c, C)

    return main


@ON_ALL
def test_warp_groups_with_barriers(device: str) -> None:
    a, b = numbers(64, 128, dtype="float16"), numbers(128, 64, dtype="float16")
    c = np.zeros((64, 64), np.float32)
    run(specialised(1, 0), device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@ON_ALL
def test_role_that_waits_lets_the_next_one_go_on(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            tile = T.alloc_shared((128,), "float32")
            ready = T.alloc_barrier(128)
            with T.ws(1):
                T.barrier_wait(ready, 0)
                T.copy(tile, B)
            with T.ws(0):
                T.copy(A, tile)
                T.barrier_arrive(ready)

    a, b = numbers(128), np.zeros(128, np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a)


def pipelined(trips: int) -> Any:
    """A product in two stages: the consumer stands first, the producer has a loop of its own, of
    `trips` trips, and copies thread by thread."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 256), "float16"),
        B: T.Tensor((256, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            a = T.alloc_shared((2, 64, 32), "float16")
            b = T.alloc_shared((2, 32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            ready = T.alloc_barrier([128] * 2)
            free = T.alloc_barrier([128] * 2)
            if tx < 128:
                T.clear(c)
                for i in T.serial(4):
                    for s in T.unroll(2):
                        T.barrier_wait(ready[s], i & 1)
                        T.gemm(a[s, :, :], b[s, :, :], c)
                        T.barrier_arrive(free[s])
                T.copy(c, C)
            else:
                done = T.alloc_var("int32", init=0)  # the producers have it alike
                for i in T.serial(trips):
                    for s in T.unroll(2):
                        T.barrier_wait(free[s], (i & 1) ^ 1)
                        for r in T.serial(2):
                            row, column = r * 32 + (tx - 128) // 4, (tx - 128) % 4 * 8
                            T.ptx_cp_async(
                                T.access_ptr(a[s, row, column], "w", 8),
                                T.access_ptr(A[row, (2 * i + s) * 32 + column], "r", 8),
                                8,
                            )
                        T.copy(B[done * 32, 0], b[s, :, :])
                        T.cp_async_barrier_noinc(ready[s])
                        done += 1

    return main


@ON_ALL
def test_roles_with_loops_of_their_own(device: str) -> None:
    a, b = numbers(64, 256, dtype="float16"), numbers(256, 64, dtype="float16")
    c = np.zeros((64, 64), np.float32)
    run(pipelined(4), device, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@ON_ALL
def test_wait_whose_arrivals_never_come(device: str) -> None:
    """An error at the wait, never a wrong result: the producer ends too early."""
    a, b = numbers(64, 256, dtype="float16"), numbers(256, 64, dtype="float16")
    with pytest.raises(tilewright.TilewrightError, match="this wait is not met"):
        tilewright.compile(pipelined(3), device=device)(a, b, np.zeros((64, 64), np.float32))


@ON_ALL
def test_roles_that_take_turns_inside_a_trip(device: str) -> None:
    """Each role hands over in the middle of its trip and goes on with what the other has made; and
    once more behind the loops."""

    @T.prim_func
    def main(A: T.Tensor((6, 64), "int32"), B: T.Tensor((7, 64), "int32")):
        with T.Kernel(1, threads=256):
            x = T.alloc_shared((64,), "int32")
            y = T.alloc_shared((64,), "int32")
            there = T.alloc_barrier(128)
            back = T.alloc_barrier(128)
            z = T.alloc_shared((64,), "int32")
            last = T.alloc_barrier([128] * 2)
            T.clear(x)
            with T.ws(0):
                for k in T.serial(6):
                    for j in T.Parallel(64):
                        x[j] += A[k, j]
                    T.barrier_arrive(there)
                    T.barrier_wait(back, k % 2)
                    for j in T.Parallel(64):
                        x[j] = y[63 - j]
                T.barrier_wait(last[0], 0)
                T.copy(z, B[6, 0])
                T.barrier_arrive(last[1])
            with T.ws(1):
                for k in T.serial(6):
                    T.barrier_wait(there, k % 2)
                    for j in T.Parallel(64):
                        y[j] = x[j] * 2 + k
                    T.copy(y, B[k, 0])
                    T.barrier_arrive(back)
                T.fill(z, 5)
                T.barrier_arrive(last[0])
                T.barrier_wait(last[1], 0)
                for j in T.Parallel(64):
                    B[6, j] += 1

    a, b = numbers(6, 64, dtype="int32"), np.zeros((7, 64), np.int32)
    run(main, device, a, b)
    x = np.zeros(64, np.int32)
    expected = []
    for k in range(6):
        y = (x + a[k]) * 2 + k
        expected.append(y)
        x = y[::-1]
    np.testing.assert_array_equal(b, [*expected, np.full(64, 6)])


@ON_ALL
@pytest.mark.parametrize("picked", ["by numbers", "by a loop"])
def test_array_that_all_threads_fill_alike(device: str, picked: str) -> None:
    """It is the block's: it may bound a loop that holds tile statements."""

    @T.prim_func
    def main(A: T.Tensor((6, 64), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            at = T.alloc_fragment((2,), "int32", "local")
            total = T.alloc_fragment((64,), "float32")
            row = T.alloc_shared((64,), "float32")
            at[0] = 1
            at[1] = 0
            T.clear(total)
            if picked == "by a loop":
                for i in T.serial(2):
                    at[i] += 1
            while at[0] < 5:
                T.copy(A[at[0], 0], row)
                for j in T.Parallel(64):
                    total[j] += row[j]
                at[0] += 1
                at[1] += 2
            B[at[1]] = 1.0
            T.copy(total, B)

    a, b = numbers(6, 64), np.zeros(64, np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a[1 if picked == "by numbers" else 2 : 5].sum(0))


@ON_ALL
def test_an_index_that_nothing_uses_changes_nothing(device: str) -> None:
    """The atomic runs once in a block, as in a kernel that names no thread."""

    @T.prim_func
    def main(A: T.Tensor((1,), "int32")):
        with T.Kernel(3, threads=64):
            tx = T.get_thread_binding()
            T.atomic_add(A[0], 1)

    a = np.zeros(1, np.int32)
    run(main, device, a)
    assert a[0] == 3
