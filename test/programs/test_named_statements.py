"""Logic, branches and jumps that TileLang spells as calls mean Python's own."""

from __future__ import annotations

import numpy as np
import tilewright
import tilewright.language as T
from on_engines import ON_ALL, run


@ON_ALL
def test_logic_by_name(device: str) -> None:
    """The second operand is only read where the first does not decide: 's' has 8 elements."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((3, 64), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((8,), "int32")
            T.copy(A[0:8], s)
            for i in T.Parallel(64):
                B[0, i] = T.if_then_else(T.And(i < 8, s[i] > 0), 1, 0)
                B[1, i] = T.if_then_else(T.Or(i >= 8, s[i] > 0), 1, 0)
                B[2, i] = T.if_then_else(T.Not(A[i] > 0), 1, 0)

    a = np.random.default_rng(1).integers(-3, 4, 64).astype(np.int32)
    b = np.zeros((3, 64), np.int32)
    run(main, device, a, b)
    inside = np.arange(64) < 8
    np.testing.assert_array_equal(b[0], inside & (a > 0))
    np.testing.assert_array_equal(b[1], ~inside | (a > 0))
    np.testing.assert_array_equal(b[2], ~(a > 0))


def test_logic_of_python_values() -> None:
    assert (T.And(1, 0), T.And(2, 3), T.Or(0, 0), T.Or(0, 5), T.Not(0)) == (
        False, True, False, True, True
    )  # fmt: skip


@ON_ALL
def test_branches_by_name(device: str) -> None:
    """A name that both sides assign has a value after them; here a number of the block."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(4, threads=16) as bx:
            with T.If(bx < 2):
                with T.Then():
                    step = 10
                with T.Else():
                    step = bx * 100
            for i in T.Parallel(16):
                with T.If(A[bx * 16 + i] > 0), T.Then():
                    B[bx * 16 + i] = step

    a = np.random.default_rng(2).integers(-3, 4, 64).astype(np.int32)
    b = np.full(64, -1, np.int32)
    run(main, device, a, b)
    step = np.repeat([10, 10, 200, 300], 16)
    np.testing.assert_array_equal(b, np.where(a > 0, step, -1))


@ON_ALL
def test_jumps_by_name(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((4, 8), "int32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(4, threads=32) as bx:
            if bx == 3:
                T.thread_return()
            total = T.alloc_var("int32", init=0)
            for k in T.serial(8):
                if A[bx, k] < 0:
                    T.loop_break()
                total += A[bx, k]
            B[bx] = total

    a = np.arange(32, dtype=np.int32).reshape(4, 8)
    a[1, 5] = a[2, 0] = -1
    b = np.full(4, -7, np.int32)
    run(main, device, a, b)
    assert b.tolist() == [28, 8 + 9 + 10 + 11 + 12, 0, -7]


@ON_ALL
def test_thread_returns_in_an_eager_kernel(device: str) -> None:
    """What follows the kernel is the host's: the result is returned."""

    @tilewright.jit(device=device)
    def doubled(A):
        n = T.const("n")
        A: T.Tensor((n,), "int32")
        B = T.empty((n,), "int32")
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            i = bx * 32 + T.get_thread_binding()
            if i >= n:
                T.thread_return()
            B[i] = A[i] * 2
        return B

    a = np.arange(50, dtype=np.int32)
    np.testing.assert_array_equal(doubled(a), a * 2)


@ON_ALL
def test_hints_about_registers(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((128,), "float32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            if tx < 128:
                T.inc_max_nreg(240)
                A[tx] = A[tx] + 1.0
            else:
                T.dec_max_nreg(24)

    a = np.zeros(128, np.float32)
    run(main, device, a)
    assert (a == 1).all()


@ON_ALL
def test_kernel_in_a_loop_of_the_host(device: str) -> None:
    """Each trip is a launch; the name of a loop's variable may be that of an argument."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), n: T.int32):
        for k in range(3):
            with T.Kernel(2, threads=32) as bx:
                for i in T.Parallel(32):
                    A[bx * 32 + i] = A[bx * 32 + i] * 2 + k
        with T.Kernel(1, threads=32):
            for n in T.serial(2):
                A[0] = A[0] + n

    a = np.arange(64, dtype=np.int32)
    expected = a * 8 + 0 * 4 + 1 * 2 + 2
    expected[0] += 1
    kernel = tilewright.compile(main, device=device)
    kernel(a, 5)
    np.testing.assert_array_equal(a, expected)


@ON_ALL
def test_loops_by_name(device: str) -> None:
    """The condition is evaluated before each iteration; the jumps are those of Python."""

    @T.prim_func
    def main(A: T.Tensor((16,), "int32"), B: T.Tensor((16,), "int32")):
        with T.Kernel(4, threads=32) as bx:
            n = T.alloc_var("int32", init=0)
            total = T.alloc_var("int32", init=0)
            with T.While(n < A[bx]):
                n = n + 1
                if n % 2 == 0:
                    T.continue_loop()
                if n > 9:
                    T.break_loop()
                total = total + n
            B[bx] = total
            B[4 + bx] = n

    a = np.zeros(16, np.int32)
    a[:4] = [0, 5, 9, 40]
    b = np.zeros(16, np.int32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b[:8], [0, 9, 25, 25, 0, 5, 9, 11])


@ON_ALL
def test_atomic_reads(device: str) -> None:
    @T.prim_func
    def main(
        A: T.Tensor((8,), "float32"), N: T.Tensor((8,), "int32"), B: T.Tensor((16,), "float32")
    ):
        with T.Kernel(8, threads=32) as bx:
            B[bx] = T.atomic_load(A[bx], memory_order="acquire") + 1.0
            B[8 + bx] = T.cast(T.atomic_load(N[bx]), "float32")

    a = np.array([-0.0, 1.5, np.inf, -2, 0, 7, -1, 3], np.float32)
    n, b = np.arange(-4, 4, dtype=np.int32), np.zeros(16, np.float32)
    before = a.copy(), n.copy()
    kernel = tilewright.compile(main, device=device)
    kernel(a, n, b)
    assert {finding["severity"] for finding in kernel.findings} <= {"note"}  # races unwatched
    np.testing.assert_array_equal(b, [*(a + 1), *n])
    assert a.tobytes() == before[0].tobytes() and n.tobytes() == before[1].tobytes()


@ON_ALL
def test_names_of_extents_and_functions(device: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((24,), "float32"), B: T.Tensor((24,), "float32")):
        with T.Kernel(2, 3, threads=32) as (bx, by):
            x, y, z = T.get_block_extents()
            first = (bx * T.get_block_extent(1) + by) * 4
            for i in T.Parallel(4):
                with T.If(T.likely(i < T.cdiv(7, 2))), T.Then():
                    B[first + i] = T.fmul(T.fabs(A[first + i]), x * 100 + y * 10 + z)

    a = np.linspace(-3, 3, 24).astype(np.float32)
    b = np.zeros(24, np.float32)
    run(main, device, a, b)
    np.testing.assert_array_equal(b, np.abs(a) * np.float32(231))
