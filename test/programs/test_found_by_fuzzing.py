"""Kernels on which engines differed, as the differential fuzzer shrank them
(docs/internals/bugs-found.md).

Each is named after its defect. All engines must give the interpreter's bits, and the virtual GPU
must find nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from test_engines import bits_of

ENGINES = ("cpu", "vgpu:sm_80", "vgpu:sm_90")


def assert_engines_agree(program, arguments: Callable[[], list[np.ndarray]]) -> None:
    """The interpreter's bits everywhere, without a finding."""
    expected = arguments()
    tilewright.compile(program, device="interp")(*expected)
    for engine in ENGINES:
        values = arguments()
        kernel = tilewright.compile(program, device=engine)
        kernel.options["strict"] = True  # a finding is an error
        kernel(*values)
        for got, want in zip(values, expected, strict=True):
            np.testing.assert_array_equal(bits_of(got), bits_of(want), err_msg=engine)


def test_barrier_inside_a_loop_that_runs_zero_times() -> None:
    """The barrier in the loop's body was taken for one on every path."""

    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        with T.Kernel(1, threads=64):
            s = T.alloc_shared((64,), "int32")
            t = T.alloc_shared((64,), "int32")
            T.copy(A, s)
            for k in T.serial(A[0]):
                T.copy(A, t)
                T.cumsum(t)
            for i in T.Parallel(64):
                B[i] = s[63 - i]

    def arguments() -> list[np.ndarray]:
        return [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)]

    assert_engines_agree(main, arguments)


def test_barriers_of_a_loop_follow_its_back_edge() -> None:
    """A reducer in a loop: the next iteration's start met the end of the one before."""

    @T.prim_func
    def main(A: T.Tensor((16, 4), "int32"), B: T.Tensor((16,), "int32")):
        with T.Kernel(1, threads=32):
            f = T.alloc_fragment((4, 16), "int32")
            s = T.alloc_shared((16,), "int32")
            r = T.alloc_reducer((16,), "int32", "max")
            for i, j in T.Parallel(4, 16):
                f[i, j] = A[j, i]
            for k in T.serial(4):
                T.reducer_init(r)
                for i, j in T.Parallel(16, 3):
                    T.reducer_update(r[i], f[k, (i + j) % 16])
                T.finalize_reducer(r, s)
                for i in T.Parallel(16):
                    B[i] += s[15 - i]

    def arguments() -> list[np.ndarray]:
        values = np.random.default_rng(0).integers(-50, 50, (16, 4))
        return [values.astype(np.int32), np.zeros(16, np.int32)]

    assert_engines_agree(main, arguments)


@pytest.mark.parametrize("space", ["shared", "fragment"])
@pytest.mark.parametrize("kind", ["abssum", "absmax"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "int8"])
def test_magnitudes_onto_a_negative_result(kind: str, dtype: str, space: str) -> None:
    """`reduce_abssum(clear=False)` adds to what the result holds as it is; `reduce_absmax` takes
    its magnitude. The interpreter and CPU code had the first wrong, GPU code the second."""
    reduce = getattr(T, f"reduce_{kind}")
    alloc = getattr(T, f"alloc_{space}")

    @T.prim_func
    def main(A: T.Tensor((4, 8), dtype), B: T.Tensor((4,), dtype)):
        with T.Kernel(1, threads=32):
            tile = alloc((4, 8), dtype)
            result = alloc((4,), dtype)
            T.copy(A, tile)
            T.copy(B, result)
            reduce(tile, result, dim=1, clear=False)
            T.copy(result, B)

    def arguments() -> list[np.ndarray]:
        values = np.random.default_rng(1).integers(-3, 4, (4, 8))
        return [values.astype(dtype), np.array([-40, -9, 1, 30], dtype)]

    a, b = arguments()
    magnitudes = np.abs(a)
    want = b + magnitudes.sum(1) if kind == "abssum" else np.maximum(np.abs(b), magnitudes.max(1))
    tilewright.compile(main, device="interp")(a, b)
    np.testing.assert_array_equal(b, want.astype(dtype))
    assert_engines_agree(main, arguments)


def test_half_precision_of_an_index_in_a_function() -> None:
    """LLVM took the sign from the float64 before the rounding, by a call that was not linked."""

    @T.prim_func
    def main(A: T.Tensor((64,), "float16")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(64):
                A[i] = T.tanh(T.cast(i, "float16"))

    values = np.zeros(64, np.float16)
    tilewright.compile(main, device="cpu")(values)
    exact = np.tanh(np.arange(64, dtype=np.float64))
    np.testing.assert_allclose(values, exact, atol=2**-11)


def test_accumulator_that_others_keep_out_of_registers() -> None:
    """A gemm for the tensor cores whose accumulator lies in memory, since another statement indexes
    it: every thread took the same four elements for its own."""

    @T.prim_func
    def main(
        A: T.Tensor((16, 16), "bfloat16"),
        B: T.Tensor((8, 16), "bfloat16"),
        C: T.Tensor((16, 8), "float32"),
        D: T.Tensor((16, 8), "float32"),
    ):
        with T.Kernel(1, threads=32) as bx:
            a = T.alloc_shared((16, 16), "bfloat16")
            b = T.alloc_shared((8, 16), "bfloat16")
            c = T.alloc_fragment((16, 8), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(C, c)
            T.gemm(a, b, c, transpose_B=True, clear_accum=bx == 1,
                   policy=T.GemmWarpPolicy.FullCol)  # fmt: skip
            for k in T.Pipelined(1, num_stages=0):
                for i, j in T.Parallel(16, 1):
                    D[15 - i, j] = c[k // 2, k + 1]
            T.copy(c, C)

    def arguments() -> list[np.ndarray]:
        rng = np.random.default_rng(2)
        a, b = (rng.integers(-3, 4, shape).astype("bfloat16") for shape in ((16, 16), (8, 16)))
        return [
            a,
            b,
            rng.integers(-9, 9, (16, 8)).astype(np.float32),
            np.zeros((16, 8), np.float32),
        ]

    assert_engines_agree(main, arguments)


# ---- Programs that name their threads (`--kind threads`) ----


def test_atomics_of_different_kinds_keep_their_order() -> None:
    """GPU code had no barrier between them: sums and maxima of an element in any order."""

    @T.prim_func
    def main(A: T.Tensor((256,), "int32"), B: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=256):
            s = T.alloc_shared((32,), "int32")
            T.clear(s)
            for i in T.Parallel(256):
                T.atomic_add(s[i // 8], A[i])
            for i in T.Parallel(256):
                T.atomic_max(s[i % 32], A[i] * 3)
            for i in T.Parallel(256):
                T.atomic_add(s[31 - i // 8], A[i])
            T.copy(s, B)

    def arguments() -> list[np.ndarray]:
        return [np.arange(256, dtype=np.int32) % 11, np.zeros(32, np.int32)]

    assert_engines_agree(main, arguments)


def test_an_atomic_tells_what_all_updates_before_it_left() -> None:
    """Two atomics of one kind were taken to commute, though the second gives what it found: the
    front end put both into one loop over the threads, GPU code had no barrier between them."""

    @T.prim_func
    def main(A: T.Tensor((128,), "int32"), B: T.Tensor((2, 128), "int32")):
        with T.Kernel(1, threads=128):
            tx = T.get_thread_binding()
            s = T.alloc_shared((128,), "int32")
            T.fill(s, 1)
            T.atomic_add(s[(tx * 3) % 128], A[tx])
            for i in T.serial(2):
                B[i, tx] = T.atomic_add(s[(tx + 95 + i) % 128], tx, return_prev=True)

    values = np.arange(128, dtype=np.int32) % 7
    expected = np.ones(128, np.int32)
    found = np.zeros((2, 128), np.int32)
    thread = np.arange(128)
    expected[thread * 3 % 128] += values
    for i in range(2):
        found[i] = expected[(thread + 95 + i) % 128]
        expected[(thread + 95 + i) % 128] += thread.astype(np.int32)
    result = np.zeros((2, 128), np.int32)
    tilewright.compile(main, device="interp")(values, result)
    np.testing.assert_array_equal(result, found)
    assert_engines_agree(main, lambda: [values, np.zeros((2, 128), np.int32)])


def test_accesses_a_few_elements_apart_keep_their_order() -> None:
    """LLVM gathers the loads of `mine[tx, 1]` and `mine[tx, 0]` into one in front of the stores
    between them, where a loop is marked parallel: the second read what was there before."""

    @T.prim_func
    def main(A: T.Tensor((64, 4), "int32"), B: T.Tensor((2, 64), "int32")):
        with T.Kernel(1, threads=64):
            tile = T.alloc_shared((64, 4), "int32")
            T.fill(tile, 5)
            for i in T.Parallel(64):
                B[0, i] = tile[i, 1]
                for k in T.serial(4):
                    tile[i, k] = A[i, k]
                B[1, i] = tile[i, 0]

    def arguments() -> list[np.ndarray]:
        return [np.arange(256, dtype=np.int32).reshape(64, 4), np.zeros((2, 64), np.int32)]

    assert_engines_agree(main, arguments)


def test_loop_of_the_block_in_a_branch_of_threads() -> None:
    """A variable that all threads have alike was each thread's own once a thread's branch read it,
    and the loop that it bounds was refused. In the other loop, a shuffle by nothing made a tile
    for each thread, and a role asked for the thread's index inside."""

    @T.prim_func
    def main(A: T.Tensor((256,), "int32"), B: T.Tensor((256,), "int32")):
        with T.Kernel(1, threads=256):
            tx = T.get_thread_binding()
            s = T.alloc_shared((256,), "int32")
            x = T.alloc_var("int32", init=1)
            trips = T.alloc_var("int32", init=3)
            T.fill(s, 0)
            x = A[tx]
            if x > 3:
                for i in T.serial(trips):
                    s[tx ^ 3] = x + i
                    x = s[x & 31]
            trips = trips + 1
            for i in T.serial(2):
                x = T.shfl_down(x, 0) + trips
            for i in T.serial(A[tx] & 1):
                with T.ws(1):
                    x += 100
            B[tx] = x

    def arguments() -> list[np.ndarray]:
        return [np.arange(256, dtype=np.int32) * 5 % 64, np.zeros(256, np.int32)]

    assert_engines_agree(main, arguments)


@pytest.mark.parametrize("rows", [8, 16])
def test_layout_that_splits_a_run_time_extent(rows: int) -> None:
    assert_engines_agree(split_rows(), lambda: [rows_of(rows), np.zeros((rows, 4), np.int32)])


def test_layout_that_needs_more_rows_than_there_are_is_refused() -> None:
    """CPU code strides by 8 rows; the check of arguments took the 5 that are there, and the last
    elements were written beyond the end of the array."""
    for engine in ("interp", *ENGINES):
        kernel = tilewright.compile(split_rows(), device=engine)
        with pytest.raises(
            tilewright.TilewrightError, match="needs 32 elements, the tensor has 20"
        ):
            kernel(rows_of(5), np.zeros((5, 4), np.int32))


def split_rows():
    """A kernel whose result has its rows in groups of eight."""
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 4), "int32"), B: T.Tensor((n, 4), "int32")):
        with T.Kernel(T.ceildiv(n, 8), threads=32) as bx:
            T.annotate_layout({B: T.Layout((n, 4), lambda i, j: [i // 8, j, i % 8])})
            for i, j in T.Parallel(8, 4):
                B[bx * 8 + i, j] = A[bx * 8 + i, j]

    return main


def rows_of(count: int) -> np.ndarray:
    return np.arange(count * 4, dtype=np.int32).reshape(count, 4)


def test_an_iteration_that_changes_memory_runs_on_one_thread() -> None:
    """Two warps hold each element of `left`, so both ran the iteration that fills it, and both
    added to the same element of `right`, which lies in memory."""

    @T.prim_func
    def main(C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=128):
            left = T.alloc_fragment((32, 32), "float16")
            right = T.alloc_fragment((32, 32), "float16")
            sums = T.alloc_shared((32, 32), "float32")
            for i, j in T.Parallel(32, 32):
                right[i, j] = i - j
            for k in T.serial(2):
                for i, j in T.Parallel(32, 32):
                    right[i, j] += T.float16(1)
                    left[31 - i, j] = T.clamp(right[i, j], -4.0, 4.0)
                T.gemm(left, right, sums, clear_accum=k == 0)
            T.copy(sums, C)

    assert_engines_agree(main, lambda: [np.zeros((32, 32), np.float32)])


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "int8"])
def test_a_branch_that_only_the_first_column_takes(dtype: str) -> None:
    """LLVM stored the wide, not yet truncated element, over its neighbours."""

    @T.prim_func
    def main(A: T.Tensor((9, 3), "int16"), B: T.Tensor((4, 8), dtype)):
        with T.Kernel(1, threads=32):
            tile = T.alloc_shared((4, 8), dtype)
            T.fill(tile, 1)
            for i, j in T.Parallel(4, 8):
                if i >= j:
                    value = T.floor(T.cast(T.clamp(A[i + 7, j], -64, 64), "float32") * 0.5)
                    tile[i, j] = T.cast(T.clamp(value, -4.0, 4.0), dtype)
            T.copy(tile, B)

    def arguments() -> list[np.ndarray]:
        a = np.random.default_rng(0).integers(-9, 9, (9, 3)).astype(np.int16)
        return [a, np.zeros((4, 8), dtype)]

    assert_engines_agree(main, arguments)


@pytest.mark.parametrize("mode", ["", "late"])
def test_additions_of_threads_and_of_tma_into_one_tensor(mode, monkeypatch) -> None:
    """The first piece starts anywhere, so threads add it; the second one was added by TMA, in
    another proxy, in which no addition is atomic with those of threads."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)

    @T.prim_func
    def main(A: T.Tensor((25,), "float32")):
        with T.Kernel(2, threads=32) as bx:
            tile = T.alloc_shared((24,), "float32")
            T.fill(tile, 1)
            T.atomic_add(A[bx : bx + 24], tile)
            T.atomic_add(A[0:24], tile)

    kernel = tilewright.compile(main, device="vgpu:sm_90a")
    a = np.zeros(25, np.float32)
    kernel(a)
    assert not kernel.findings
    np.testing.assert_array_equal(a, [3] + [4] * 23 + [1])
    assert "threads update 'A' too" in " ".join(str(remark) for remark in kernel.remarks)


def hopper_finds_nothing(program, arguments: Callable[[], list[np.ndarray]]) -> None:
    """The interpreter's bits on sm_90a, without a finding."""
    expected = arguments()
    tilewright.compile(program, device="interp")(*expected)
    values = arguments()
    kernel = tilewright.compile(program, device="vgpu:sm_90a")
    kernel(*values)
    assert not kernel.findings
    for got, want in zip(values, expected, strict=True):
        np.testing.assert_array_equal(bits_of(got), bits_of(want))


@pytest.mark.parametrize("mode", ["", "late"])
def test_a_product_between_two_copies_of_one_thread(mode, monkeypatch) -> None:
    """LLVM threaded the branch of the thread that starts the copies through the product between
    them: warp 0 got a copy of the product, the others another one."""
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)

    rows = T.dynamic("rows")

    @T.prim_func
    def main(
        A: T.Tensor((rows, 48), "float8_e5m2"),
        B: T.Tensor((48, 48), "float8_e5m2"),
        C: T.Tensor((rows, 48), "float32"),
        S: T.Tensor((2, 48, 48), "bfloat16"),
        M: T.Tensor((2, 1, 32), "bfloat16"),
    ):
        with T.Kernel(1, T.ceildiv(rows, 64), threads=256) as (bx, by):
            a = T.alloc_shared((64, 32), "float8_e5m2")
            b = T.alloc_shared((64, 32), "float8_e5m2")
            s = T.alloc_shared((32 * 64,), "bfloat16")
            c = T.alloc_fragment((64, 64), "float32")
            most = T.alloc_fragment((32,), "bfloat16")
            view = T.reshape(s, (32, 64))
            T.clear(c)
            T.clear(most)
            for k in T.serial(2):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[0:32, k * 32 : k * 32 + 32], b[0:32, 0:32])
                T.copy(B[32:64, k * 32 : k * 32 + 32], b[32:64, 0:32])
                T.gemm(a, b, c, transpose_B=True, clear_accum=True)
                T.copy(S[1, k * 32, 0], view)
                T.reduce_max(view, most, dim=1, clear=False)
            T.copy(c, C[by * 64, 0])
            T.copy(most, M[by, 0, 0])

    def arguments() -> list[np.ndarray]:
        rng = np.random.default_rng(0)
        a, b = (rng.integers(-2, 3, (n, 48)).astype("float8_e5m2") for n in (96, 48))
        s = rng.integers(-3, 4, (2, 48, 48)).astype("bfloat16")
        return [a, b, np.zeros((96, 48), np.float32), s, np.zeros((2, 1, 32), "bfloat16")]

    hopper_finds_nothing(main, arguments)


def test_a_loop_that_certainly_ends_the_product_before_it() -> None:
    """A wait in a loop of one iteration ends the peeled product; the check of schedules thought of
    a way past the loop, and the kernel did not compile."""

    @T.prim_func
    def main(
        A: T.Tensor((128, 32), "bfloat16"),
        B: T.Tensor((32, 16), "bfloat16"),
        X: T.Tensor((32, 128), "bfloat16"),
        C: T.Tensor((128, 16), "float32"),
        D: T.Tensor((128, 16), "float32"),
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((128, 16), "bfloat16")
            b = T.alloc_shared((16, 16), "bfloat16")
            x = T.alloc_shared((16, 128), "bfloat16")
            y = T.alloc_shared((16, 16), "bfloat16")
            c = T.alloc_fragment((128, 16), "float32")
            d = T.alloc_fragment((128, 16), "float32")
            T.copy(B[0, 0], b)
            T.clear(c)
            T.clear(d)
            for k in T.serial(2):
                T.copy(A[0, k * 16], a)
                T.gemm(a, b, c)
            for k in T.Pipelined(2, num_stages=5):
                T.copy(X[k * 16, 0], x)
                T.copy(B[k * 16, 0], y)
                T.gemm(x, y, d, transpose_A=True)
            T.copy(c, C)
            T.copy(d, D)

    def arguments() -> list[np.ndarray]:
        rng = np.random.default_rng(0)
        shapes = ((128, 32), (32, 16), (32, 128))
        inputs = [rng.integers(-3, 4, shape).astype("bfloat16") for shape in shapes]
        return [*inputs, *(np.zeros((128, 16), np.float32) for _ in range(2))]

    hopper_finds_nothing(main, arguments)


def test_what_threads_copy_while_a_warpgroup_has_the_turn() -> None:
    """The turn at issuing products held a copy by threads (rows of a run-time length are no bulk
    copies) and the product that reads it: the barrier between them stopped the other warpgroup."""
    K = T.dynamic("K")

    @T.prim_func
    def main(
        A: T.Tensor((2, 32, K), "float16"),
        B: T.Tensor((512, K), "float16"),
        D: T.Tensor((32, K), "float16"),
        E: T.Tensor((2, K, 512), "float16"),
        V: T.Tensor((392, 64), "float16"),
        O: T.Tensor((4, 64, 64), "float32"),
    ):
        with T.ClusterKernel(4, 1, cluster_dims=(4, 1), threads=256) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((128, 32), "float16")
            c = T.alloc_fragment((64, 128), "float32")
            d = T.alloc_shared((64, 32), "float16")
            e = T.alloc_shared((32, 128), "float16")
            f = T.alloc_fragment((64, 128), "float32")
            o = T.alloc_fragment((64, 64), "float32")
            p = T.alloc_fragment((64, 128), "float16")
            v = T.alloc_shared((128, 64), "float16")
            T.clear(c)
            T.copy_cluster(E[0, 0, bx * 128], e, cluster_mask=15)
            T.clear(f)
            T.clear(o)
            for k in T.Pipelined(2, num_stages=2):
                T.copy(A[bx % 2, by * 64, k * 32], a)
                T.copy_cluster(B[bx * 128, k * 32], b, cluster_mask=11)
                T.gemm(a, b, c, transpose_B=True)
                T.copy(D[by * 64, k * 32], d)
                T.gemm(d, e, f)
                T.copy(V[k * 128, 0], v)
                for i, j in T.Parallel(64, 128):
                    p[i, j] = T.cast(T.if_then_else(f[i, j] > 0, 1, 0), "float16")
                T.gemm(p, v, o)
            for i, j in T.Parallel(64, 64):
                O[bx, i, j] = o[i, j] + c[i, j]

    def arguments() -> list[np.ndarray]:
        rng = np.random.default_rng(6010990)
        shapes = ((2, 32, 112), (512, 112), (32, 112), (2, 112, 512), (392, 64))
        inputs = [rng.integers(-3, 4, shape).astype("float16") for shape in shapes]
        return [*inputs, np.zeros((4, 64, 64), np.float32)]

    hopper_finds_nothing(main, arguments)
