"""Statements on tiles, compared with numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

RNG = np.random.default_rng(7)


def run(function, *arguments):
    """Runs a prim_func on the interpreter; findings are errors."""
    kernel = tilewright.compile(function, device="interp")
    kernel.options["strict"] = True
    kernel(*arguments)


def integers(*shape, low=-8, high=9, dtype=np.float32):
    """Small integers: every sum of them is exact."""
    return RNG.integers(low, high, shape).astype(dtype)


def test_copy_pads_and_clips_at_the_edge() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((10, 7), "float32"),
        B: T.Tensor((10, 7), "float32"),
        S: T.Tensor((16, 8), "float32"),
    ):
        with T.Kernel(1):
            s = T.alloc_shared((16, 8), "float32")
            T.copy(A[0, 0], s)
            T.copy(s, S)
            T.copy(s, B[0:16, 0:8])

    a, b, s = integers(10, 7), np.full((10, 7), -1, np.float32), np.full((16, 8), -1, np.float32)
    run(main, a, b, s)
    np.testing.assert_array_equal(b, a)
    np.testing.assert_array_equal(s, np.pad(a, ((0, 6), (0, 1))))


@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16", "int32", "int8", "uint8"])
@pytest.mark.parametrize("target", ["float32", "float16", "bfloat16", "int32", "int16"])
def test_copy_converts_elements(source: str, target: str) -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), source), B: T.Tensor((64,), target)):
        with T.Kernel(1):
            f = T.alloc_fragment((64,), source)
            g = T.alloc_fragment((64,), target)
            T.copy(A, f)
            T.copy(f, g)
            T.copy(g, B)

    low = 0 if source == "uint8" else -100
    a = RNG.integers(low, 100, 64).astype(T.dtype(source).as_numpy())
    b = np.zeros(64, T.dtype(target).as_numpy())
    run(main, a, b)
    np.testing.assert_array_equal(b, a.astype(b.dtype))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("policy", list(T.GemmWarpPolicy))
def test_gemm(transpose_a: bool, transpose_b: bool, policy) -> None:
    M, N, K = 32, 48, 16
    a_shape, b_shape = ((K, M) if transpose_a else (M, K)), ((N, K) if transpose_b else (K, N))

    @T.prim_func
    def main(
        A: T.Tensor(a_shape, "float16"),
        B: T.Tensor(b_shape, "float16"),
        C: T.Tensor((M, N), "float32"),
    ):
        with T.Kernel(1):
            a = T.alloc_shared(a_shape, "float16")
            b = T.alloc_shared(b_shape, "float16")
            c = T.alloc_fragment((M, N), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.fill(c, 2.0)
            T.gemm(a, b, c, transpose_a, transpose_b, policy=policy)
            T.copy(c, C)

    a, b = integers(*a_shape, dtype=np.float16), integers(*b_shape, dtype=np.float16)
    c = np.zeros((M, N), np.float32)
    run(main, a, b, c)
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    np.testing.assert_array_equal(c, 2 + left.astype(np.float32) @ right.astype(np.float32))


def test_gemm_clears_by_a_run_time_condition() -> None:
    @T.prim_func
    def main(A: T.Tensor((4, 16, 16), "float16"), C: T.Tensor((16, 16), "float32")):
        with T.Kernel(1):
            a = T.alloc_shared((16, 16), "float16")
            c = T.alloc_fragment((16, 16), "float32")
            for k in T.Pipelined(4, num_stages=2):
                T.copy(A[k, :, :], a)
                T.gemm(a, a, c, clear_accum=k == 0)
            T.copy(c, C)

    a, c = integers(4, 16, 16, dtype=np.float16), np.zeros((16, 16), np.float32)
    run(main, a, c)
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(c, sum(wide[k] @ wide[k] for k in range(4)))


REDUCTIONS = {
    "sum": lambda a, axis: a.sum(axis),
    "max": lambda a, axis: a.max(axis),
    "min": lambda a, axis: a.min(axis),
    "absmax": lambda a, axis: np.abs(a).max(axis),
    "abssum": lambda a, axis: np.abs(a).sum(axis),
    "bitand": lambda a, axis: np.bitwise_and.reduce(a, axis),
    "bitor": lambda a, axis: np.bitwise_or.reduce(a, axis),
    "bitxor": lambda a, axis: np.bitwise_xor.reduce(a, axis),
}


@pytest.mark.parametrize("kind", REDUCTIONS)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_reduce(kind: str, dim: int) -> None:
    shape = (12, 20)
    kept = shape[1 - dim % 2]
    reduce = getattr(T, f"reduce_{kind}")

    @T.prim_func
    def main(A: T.Tensor(shape, "int32"), B: T.Tensor((kept,), "int32")):
        with T.Kernel(1):
            f = T.alloc_fragment(shape, "int32")
            r = T.alloc_fragment((kept,), "int32")
            T.copy(A, f)
            reduce(f, r, dim=dim)
            T.copy(r, B)

    a, b = integers(*shape, low=-99, high=99, dtype=np.int32), np.zeros(kept, np.int32)
    run(main, a, b)
    np.testing.assert_array_equal(b, REDUCTIONS[kind](a, dim))


def test_reduce_keeps_what_is_there() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((8, 16), "float32"),
        S: T.Tensor((8,), "float32"),
        M: T.Tensor((8, 1), "float32"),
    ):
        with T.Kernel(1):
            f = T.alloc_fragment((8, 16), "float32")
            s = T.alloc_fragment((8,), "float32")
            m = T.alloc_fragment((8, 1), "float32")
            T.copy(A, f)
            T.fill(s, 100.0)
            T.fill(m, 3.0)
            T.reduce_sum(f, s, dim=1, clear=False)
            T.reduce_max(f, m, dim=1, clear=False)
            T.copy(s, S)
            T.copy(m, M)

    a = integers(8, 16)
    s, m = np.zeros(8, np.float32), np.zeros((8, 1), np.float32)
    run(main, a, s, m)
    np.testing.assert_array_equal(s, 100 + a.sum(1))
    np.testing.assert_array_equal(m, np.maximum(a.max(1, keepdims=True), 3))


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumsum(dim: int, reverse: bool) -> None:
    @T.prim_func
    def main(A: T.Tensor((6, 10), "int32"), B: T.Tensor((6, 10), "int32")):
        with T.Kernel(1):
            s = T.alloc_shared((6, 10), "int32")
            T.copy(A, s)
            T.cumsum(s, dim=dim, reverse=reverse)
            T.copy(s, B)

    a, b = integers(6, 10, dtype=np.int32), np.zeros((6, 10), np.int32)
    run(main, a, b)
    flip = (lambda x: np.flip(x, dim)) if reverse else (lambda x: x)
    np.testing.assert_array_equal(b, flip(flip(a).cumsum(dim)))


@pytest.mark.parametrize(
    ("name", "combine"),
    [
        ("add", lambda old, new: old + new.sum(0)),
        ("max", lambda old, new: np.maximum(old, new.max(0))),
        ("min", lambda old, new: np.minimum(old, new.min(0))),
        ("and", lambda old, new: old & np.bitwise_and.reduce(new, 0)),
        ("or", lambda old, new: old | np.bitwise_or.reduce(new, 0)),
        ("xor", lambda old, new: old ^ np.bitwise_xor.reduce(new, 0)),
    ],
)
def test_atomics_of_many_blocks(name: str, combine) -> None:
    update = getattr(T, f"atomic_{name}")

    @T.prim_func
    def main(A: T.Tensor((5, 8), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(5) as bx:
            for i in T.Parallel(8):
                update(B[i], A[bx, i])

    a, b = integers(5, 8, dtype=np.int32), integers(8, dtype=np.int32)
    expected = combine(b.copy(), a)
    run(main, a, b)
    np.testing.assert_array_equal(b, expected)


def test_atomic_add_of_a_tile_and_of_neighbours() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((8, 8), "float32"),
        B: T.Tensor((8, 8), "float32"),
        C: T.Tensor((16,), "float32"),
    ):
        with T.Kernel(2):
            f = T.alloc_fragment((8, 8), "float32")
            T.copy(A, f)
            T.atomic_add(B, f)
            for i in T.Parallel(4):
                T.atomic_addx4(C[i * 4], A[i, 0])

    a, b, c = integers(8, 8), integers(8, 8), np.zeros(16, np.float32)
    expected = b + 2 * a
    run(main, a, b, c)
    np.testing.assert_array_equal(b, expected)
    np.testing.assert_array_equal(c, 2 * a[:4, :4].reshape(-1))


def test_views_share_storage() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((8, 8), "float32"), B: T.Tensor((64,), "float32"), C: T.Tensor((8, 8), "uint32")
    ):
        with T.Kernel(1):
            s = T.alloc_shared((8, 8), "float32")
            flat = T.reshape(s, (64,))
            bits = T.view(s, dtype="uint32")
            T.copy(A, s)
            T.copy(flat, B)
            for i, j in T.Parallel(8, 8):
                C[i, j] = bits[i, j]

    a, b, c = integers(8, 8), np.zeros(64, np.float32), np.zeros((8, 8), np.uint32)
    run(main, a, b, c)
    np.testing.assert_array_equal(b, a.reshape(-1))
    np.testing.assert_array_equal(c, a.view(np.uint32))


def test_im2col_gathers_patches() -> None:
    N, H, W, C, K, S, D, P = 1, 6, 6, 4, 3, 1, 1, 1

    @T.prim_func
    def main(A: T.Tensor((N, H, W, C), "float16"), B: T.Tensor((N * H * W, K * K * C), "float16")):
        with T.Kernel(N * H * W // 12, K * K * C // 12) as (bx, by):
            s = T.alloc_shared((12, 12), "float16")
            T.im2col(A, s, bx, by, K, S, D, P)
            T.copy(s, B[bx * 12, by * 12])

    a = integers(N, H, W, C, dtype=np.float16)
    b = np.zeros((N * H * W, K * K * C), np.float16)
    run(main, a, b)
    padded = np.pad(a, ((0, 0), (P, P), (P, P), (0, 0)))
    patches = [padded[0, h : h + K, w : w + K, :].reshape(-1) for h in range(H) for w in range(W)]
    np.testing.assert_array_equal(b, np.stack(patches))


def test_slices_fill_and_copy_regions() -> None:
    @T.prim_func
    def main(A: T.Tensor((8, 8), "int32"), B: T.Tensor((8, 8), "int32")):
        with T.Kernel(1):
            s = T.alloc_shared((8, 8), "int32")
            T.clear(s)
            s[2:4, :] = 7
            s[4:8, 0:4] = A[0:4, 4:8]
            s[-1, -1] = 9
            T.copy(s[::2, :], B[0:4, :])
            T.copy(s[4:8, :], B[4:8, :])

    a, b = integers(8, 8, dtype=np.int32), np.zeros((8, 8), np.int32)
    run(main, a, b)
    s = np.zeros((8, 8), np.int32)
    s[2:4], s[4:8, 0:4], s[-1, -1] = 7, a[0:4, 4:8], 9
    np.testing.assert_array_equal(b, np.concatenate([s[::2], s[4:8]]))


def test_global_layout_is_visible_and_shared_layout_is_not() -> None:
    @T.prim_func
    def main(
        A: T.Tensor((8, 8), "int32"), B: T.Tensor((8, 8), "int32"), C: T.Tensor((8, 8), "int32")
    ):
        with T.Kernel(1):
            s = T.alloc_shared((8, 8), "int32")
            T.annotate_layout(
                {
                    B: T.Layout((8, 8), lambda i, j: [j, i]),
                    s: lambda i, j: [i, j ^ i],
                }
            )
            T.copy(A, s)
            T.copy(s, B)
            T.copy(s, C)

    a, b, c = integers(8, 8, dtype=np.int32), np.zeros((8, 8), np.int32), np.zeros((8, 8), np.int32)
    run(main, a, b, c)
    np.testing.assert_array_equal(b, a.T)
    np.testing.assert_array_equal(c, a)


def test_two_kernels_run_in_order_over_a_workspace() -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
        work = T.alloc_global((64,), "int32")
        with T.Kernel(4) as bx:
            for i in T.Parallel(16):
                work[bx * 16 + i] = A[bx * 16 + i] * 2
        with T.Kernel(2, threads=[32, 2]) as bx:
            T.use_swizzle(4)
            for i in T.Parallel(32):
                B[bx * 32 + i] = work[63 - (bx * 32 + i)]

    a, b = integers(64, dtype=np.int32), np.zeros(64, np.int32)
    run(main, a, b)
    np.testing.assert_array_equal(b, a[::-1] * 2)


MATH = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc,
    "abs": np.abs, "sinh": np.sinh, "cosh": np.cosh, "atan": np.arctan,
    "rsqrt": lambda x: 1 / np.sqrt(x), "exp10": lambda x: 10.0**x,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip


@pytest.mark.parametrize("name", MATH)
def test_math_functions(name: str) -> None:
    function = getattr(T, name)

    @T.prim_func
    def main(A: T.Tensor((64,), "float64"), B: T.Tensor((64,), "float64")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                B[i] = function(A[i])

    a, b = RNG.uniform(0.1, 3.0, 64), np.zeros(64)
    run(main, a, b)
    np.testing.assert_allclose(b, MATH[name](a), rtol=1e-14)


def test_sigmoid_of_float16_does_not_overflow_inside() -> None:
    @T.prim_func
    def main(A: T.Tensor((64,), "float16"), B: T.Tensor((64,), "float16")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                B[i] = T.sigmoid(A[i])

    a, b = np.linspace(-16, 16, 64).astype(np.float16), np.zeros(64, np.float16)
    run(main, a, b)
    expected = 1 / (1 + np.exp(-a.astype(np.float64)))
    np.testing.assert_allclose(b, expected, rtol=2**-10, atol=2**-25)
    assert np.all(b > 0)


def test_scalar_helpers() -> None:
    @T.prim_func
    def main(A: T.Tensor((8,), "int32"), B: T.Tensor((16,), "int32"), F: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            x = A[0]
            B[0] = T.ceildiv(x, 4)
            B[1] = T.floordiv(x, 4)
            B[2] = T.floormod(x, 4)
            B[3] = T.truncdiv(x, 4)
            B[4] = T.truncmod(x, 4)
            B[5] = T.min(x, 3)
            B[6] = T.max(x, 3)
            B[7] = T.clamp(x, -2, 2)
            B[8] = T.if_then_else(x > 0, 1, -1)
            B[9] = T.shift_left(x, 2)
            B[10] = T.shift_right(x, 1)
            B[11] = T.bitwise_xor(x, 5)
            B[12] = T.reinterpret(F[0], "int32")
            B[13] = T.Cast("int32", F[1])
            B[14] = T.max_value("int8") + T.cast(0, "int32")
            y: T.int32 = F[1]
            B[15] = y
            F[2] = -T.infinity("float32")
            F[3] = T.pow(F[1], 2)
            F[4] = T.if_then_else(T.isnan(F[5]), 1.0, 0.0)

    a = np.full(8, -7, np.int32)
    f = np.array([1.5, 2.75, 0, 0, 0, np.nan, 0, 0], np.float32)
    b = np.zeros(16, np.int32)
    run(main, a, b, f)
    one_and_half = int(np.float32(1.5).view(np.int32))
    assert b.tolist() == [
        -1,
        -2,
        1,
        -1,
        -3,
        -7,
        3,
        -2,
        -1,
        -28,
        -4,
        -7 ^ 5,
        one_and_half,
        2,
        127,
        2,
    ]
    assert f[2] == -np.inf
    assert f[3] == 2.75**2
    assert f[4] == 1.0


def test_float8_rounds_as_ml_dtypes() -> None:
    @T.prim_func
    def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), T.float8_e5m2)):
        with T.Kernel(1):
            for i in T.Parallel(256):
                B[i] = A[i]

    a = RNG.standard_normal(256).astype(np.float32)
    b = np.zeros(256, ml_dtypes.float8_e5m2)
    run(main, a, b)
    np.testing.assert_array_equal(b, a.astype(ml_dtypes.float8_e5m2))


def test_grid_and_persistent_loops() -> None:
    @T.prim_func
    def main(A: T.Tensor((6, 8), "int32"), B: T.Tensor((6, 8), "int32")):
        with T.Kernel(1):
            for i, j in T.grid(6, 8):
                A[i, j] = i * 10 + j
        with T.Kernel(4) as block:
            for i, j in T.Persistent([6, 8], 4, block):
                B[i, j] = B[i, j] + i * 10 + j

    a, b = np.zeros((6, 8), np.int32), np.zeros((6, 8), np.int32)
    run(main, a, b)
    expected = np.arange(6)[:, None] * 10 + np.arange(8)
    np.testing.assert_array_equal(a, expected)
    np.testing.assert_array_equal(b, expected)


def test_hints_change_nothing() -> None:
    @T.prim_func
    def main(A: T.Tensor((8, 16), "float32"), B: T.Tensor((8, 16), "float32")):
        with T.Kernel(2, threads=64) as bx:
            T.disable_warp_group_reg_alloc()
            T.no_set_max_nreg()
            T.annotate_min_blocks_per_sm(2)
            T.annotate_restrict_buffers(A, B)
            T.annotate_l2_hit_ratio({A: 0.5})
            T.assume(bx < 2)
            T.device_assert(bx >= 0, "blocks count from 0")
            s = T.alloc_shared((4, 16), "float32", scope="shared")
            T.copy(
                A[bx * 4, 0], s, coalesced_width=2, disable_tma=True, eviction_policy="evict_first"
            )
            for i, j in T.Parallel(4, 16, coalesced_width=4):
                for v in T.vectorized(1):
                    B[bx * 4 + i, j] = s[i, j] + v

    a, b = integers(8, 16), np.zeros((8, 16), np.float32)
    run(main, a, b)
    np.testing.assert_array_equal(a, b)


def test_print_shows_values(capsys: pytest.CaptureFixture) -> None:
    @T.prim_func
    def main(A: T.Tensor((2,), "int32")):
        with T.Kernel(1):
            T.print("hello")
            T.print(A[1] + 1, msg="next")

    run(main, np.array([1, 41], np.int32))
    printed = capsys.readouterr().out
    assert "hello" in printed
    assert "next" in printed
    assert "42" in printed
