"""Roles that wait for each other in the middle of branches, and behind loops of their own.

Found with TileLang's examples: the warp-specialised attention and multi-head latent attention
stopped with "this wait is not met", though their barriers are right.
"""

from __future__ import annotations

import numpy as np
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_roles_that_take_turns_inside_a_branch(device: str) -> None:
    """In all trips but the last, each role waits for the other within its own branch."""

    @T.prim_func
    def main(A: T.Tensor((4, 64), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((64,), "int32")
            y = T.alloc_shared((64,), "int32")
            there = T.alloc_barrier(128)
            back = T.alloc_barrier(128)
            T.clear(x)
            T.clear(y)
            if tx < 128:
                for k in T.serial(5):
                    if k < 4:
                        for j in T.Parallel(64):
                            x[j] = y[j] * 2 + A[k, j]
                        T.barrier_arrive(there)
                        T.barrier_wait(back, k % 2)
                        for j in T.Parallel(64):
                            x[j] = y[j] + k
            else:
                for k in T.serial(5):
                    if k < 4:
                        T.barrier_wait(there, k % 2)
                        for j in T.Parallel(64):
                            y[j] = x[j] + 1
                        T.barrier_arrive(back)
                T.copy(y, B)

    a, b = np.arange(256, dtype=np.int32).reshape(4, 64), np.zeros(64, np.int32)
    run(main, device, a, b)
    y = np.zeros(64, np.int32)
    for k in range(4):
        y = y * 2 + a[k] + 1
    np.testing.assert_array_equal(b, y)


@ON_ALL
def test_branch_that_only_the_last_trip_takes(device: str) -> None:
    """The first role stores behind the last trip of the second, which comes later in the text."""

    @T.prim_func
    def main(A: T.Tensor((4, 64), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((4, 64), "int32")
            total = T.alloc_shared((64,), "int32")
            there = T.alloc_barrier(128)
            done = T.alloc_barrier(4 * 128)
            T.clear(total)
            if tx < 128:
                for k in T.serial(4):
                    T.copy(A[k, :], x[k, :])
                    T.barrier_arrive(there)
                    if k == 3:
                        T.barrier_wait(done, 0)
                        T.copy(total, B)
            else:
                for k in T.serial(4):
                    T.barrier_wait(there, k % 2)
                    for j in T.Parallel(64):
                        total[j] += x[k, j]
                    T.barrier_arrive(done)

    a, b = np.arange(256, dtype=np.int32).reshape(4, 64), np.zeros(64, np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, a.sum(0))


@ON_ALL
def test_barrier_that_a_loop_does_not_touch(device: str) -> None:
    """Behind loops that they share, roles still know what other barriers have counted: the first
    role must not go on before the second has arrived. Before them, each has a loop of waits."""

    @T.prim_func
    def main(A: T.Tensor((4, 64), "int32"), B: T.Tensor((2, 64), "int32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((2, 64), "int32")
            y = T.alloc_shared((2, 64), "int32")
            first = T.alloc_barrier([128] * 2)
            second = T.alloc_barrier([128] * 2)
            there = T.alloc_barrier(128)
            back = T.alloc_barrier(128)
            left = T.alloc_barrier(128)
            right = T.alloc_barrier(128)
            if tx < 128:
                for s in T.unroll(2):
                    T.copy(A[s, 0], x[s, :])
                    T.barrier_arrive(first[s])
                for s in T.unroll(2):
                    T.barrier_wait(second[s], 0)
                for k in T.serial(3):
                    for j in T.Parallel(64):
                        x[0, j] += y[0, j]
                    T.barrier_arrive(there)
                    T.barrier_wait(back, k % 2)
                T.barrier_arrive(left)
                T.barrier_wait(right, 0)
                T.copy(y[1, :], B[0, :])
            else:
                for s in T.unroll(2):
                    T.copy(A[2 + s, 0], y[s, :])
                    T.barrier_arrive(second[s])
                for s in T.unroll(2):
                    T.barrier_wait(first[s], 0)
                for k in T.serial(3):
                    T.barrier_wait(there, k % 2)
                    for j in T.Parallel(64):
                        y[0, j] += x[0, j]
                    T.barrier_arrive(back)
                T.barrier_wait(left, 0)
                for j in T.Parallel(64):
                    y[1, j] += x[0, j]
                T.barrier_arrive(right)
                T.copy(y[0, :], B[1, :])

    a, b = np.arange(256, dtype=np.int32).reshape(4, 64), np.zeros((2, 64), np.int32)
    run(main, device, a, b)
    x, y = a[0].copy(), a[2].copy()
    for _ in range(3):
        x += y
        y += x
    np.testing.assert_array_equal(b, [a[3] + x, y])


@T.macro
def find_group(ends, tile, low, high, group):
    """The first group that ends after a tile, by halving; all three are arrays of threads."""
    low[0] = 0
    high[0] = 3
    for _ in T.serial(2):
        middle = (low[0] + high[0]) >> 1
        if ends[middle] <= tile:
            low[0] = middle + 1
        else:
            high[0] = middle
    group[0] = low[0]


@ON_ALL
def test_roles_that_search_in_arrays_of_one_name(device: str) -> None:
    """Each role has other values in `low`, `high` and `group`, the same for all its threads, and
    they decide which tile statements run. Found with TileOPs' grouped products."""

    @T.prim_func
    def main(
        A: T.Tensor((4, 64), "int32"),
        ends: T.Tensor((4,), "int32"),
        B: T.Tensor((6, 64), "int32"),
    ):
        with T.Kernel(6, threads=256) as bx:
            tx = T.get_thread_binding()
            x = T.alloc_shared((64,), "int32")
            low = T.alloc_local((1,), "int32")
            high = T.alloc_local((1,), "int32")
            group = T.alloc_local((1,), "int32")
            there = T.alloc_barrier(128)
            if tx < 128:
                find_group(ends, bx, low, high, group)
                if group[0] < 3:
                    T.copy(A[group[0], 0:64], x)
                else:
                    T.clear(x)
                T.barrier_arrive(there)
            else:
                find_group(ends, 5 - bx, low, high, group)
                rows = group[0]
                T.barrier_wait(there, 0)
                if rows > 0:
                    for j in T.Parallel(64):
                        B[bx, j] = x[j] * 10 + rows
                else:
                    for j in T.Parallel(64):
                        B[bx, j] = -x[j]

    a = np.arange(256, dtype=np.int32).reshape(4, 64)
    ends, b = np.array([1, 3, 4, 6], np.int32), np.zeros((6, 64), np.int32)
    run(main, device, a, ends, b)
    for tile in range(6):
        group, rows = np.searchsorted(ends, [tile, 5 - tile], side="right")
        x = a[group] if group < 3 else 0 * a[0]
        np.testing.assert_array_equal(b[tile], x * 10 + rows if rows > 0 else -x)


@ON_ALL
def test_a_variable_that_all_threads_begin_and_each_role_counts(device: str) -> None:
    """`row` is stored by all threads first; then each role counts its own, which picks the row
    of a tile statement. Found with TileOPs' cooperative grouped products."""

    @T.prim_func
    def main(A: T.Tensor((8, 64), "int32"), B: T.Tensor((2, 3, 64), "int32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            x = T.alloc_shared((64,), "int32")
            y = T.alloc_shared((64,), "int32")
            row = T.alloc_var("int32", init=1)
            last = T.alloc_var("int32", init=7)
            if tx < 128:
                for k in T.serial(3):
                    T.copy(A[row, :], x)
                    T.copy(x, B[0, k, :])
                    row = row + 1
            else:
                for k in T.serial(3):
                    T.copy(A[row, :], y)
                    for j in T.Parallel(64):
                        B[1, k, j] = y[j] * 10 + last
                    row = row + 3
                    last = row

    a = np.arange(512, dtype=np.int32).reshape(8, 64)
    b = np.zeros((2, 3, 64), np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b[0], a[1:4])
    np.testing.assert_array_equal(b[1], a[[1, 4, 7]] * 10 + np.array([7, 4, 7])[:, None])


@ON_ALL
def test_a_role_without_waits_keeps_its_turn(device: str) -> None:
    """The consumers forget to wait: the order of the text, in which the producer comes first, makes
    the program right. The interpreter ran them first, and called that a deadlock."""

    @T.prim_func
    def main(A: T.Tensor((3, 64), "int32"), B: T.Tensor((2, 64), "int32")):
        with T.Kernel(1, threads=384):
            s = T.alloc_shared((3, 64), "int32")
            empty = T.alloc_barrier([256] * 3)
            with T.ws(2):
                for k in T.serial(3):
                    T.barrier_wait(empty[k], 1)
                    T.copy(A[k, 0], s[k, :])
            with T.ws(0):
                for k in T.serial(3):
                    for j in T.Parallel(64):
                        B[0, j] += s[k, j]
                    T.barrier_arrive(empty[k])
            with T.ws(1):
                for k in T.serial(3):
                    for j in T.Parallel(64):
                        B[1, j] += 2 * s[k, j]
                    T.barrier_arrive(empty[k])

    a, b = np.arange(192, dtype=np.int32).reshape(3, 64), np.zeros((2, 64), np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, [a.sum(0), 2 * a.sum(0)])
