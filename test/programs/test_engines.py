"""Every engine gives the reference interpreter's bits (DESIGN: how right is decided, exact mode).

The corpus runs on all engines in test_corpus.py; here each kind of number and statement is compared
by itself. Inputs are chosen so that every intermediate is exact in its dtype, or the operation is
rounded once; then any order of a sum and any vectorisation must give the same bits. NaN equals
NaN.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

ENGINES = ("cpu", "vgpu:sm_80")

FLOATS = {
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
    "float64": np.float64,
}
INTEGERS = {
    f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
DTYPES = {**FLOATS, **INTEGERS, "bool": np.bool_}


def bits_of(array: np.ndarray) -> np.ndarray:
    """The bit patterns, with one pattern for all NaNs."""
    bits = array.view(f"u{array.dtype.itemsize}").copy()
    if array.dtype.name in FLOATS:
        with np.errstate(invalid="ignore"):  # of signalling NaNs
            bits[np.isnan(array.astype(np.float64))] = 0xFF
    return bits


def run_on(engine: str, build: Callable, arguments: tuple) -> tuple:
    """The arguments after a call of the kernel that `build` makes, on one engine."""
    kernel = tilewright.compile(build(), device=engine)
    copies = tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments)
    kernel(*copies)
    return copies


def assert_same_bits(build: Callable, *arguments: np.ndarray) -> None:
    """All engines leave the same bits in all arguments."""
    expected = run_on("interp", build, arguments)
    for engine in ENGINES:
        for position, (got, want) in enumerate(
            zip(run_on(engine, build, arguments), expected, strict=True)
        ):
            if isinstance(want, np.ndarray):
                wrong = np.flatnonzero(bits_of(got).ravel() != bits_of(want).ravel())
                where = [(int(i), got.ravel()[i], want.ravel()[i]) for i in wrong[:5]]
                assert not where, f"{engine}: argument {position}: (element, got, expected) {where}"


# ---- Numbers ----


def interesting(name: str) -> np.ndarray:
    """Values at and around the edges of every format."""
    if name == "bool":
        return np.array([False, True] * 32)
    if name in INTEGERS:
        info = np.iinfo(INTEGERS[name])
        ends = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 127, 100, 96, 9, 16]
        powers = [p + d for p in (2**k for k in range(1, info.bits - 1)) for d in (-1, 0, 1)]
        return np.array([v for v in ends + powers if info.min <= v <= info.max], INTEGERS[name])
    rng = np.random.default_rng(1)
    if np.dtype(FLOATS[name]).itemsize == 1:
        return np.arange(256, dtype=np.uint8).view(FLOATS[name])
    if np.dtype(FLOATS[name]).itemsize == 2:
        return np.arange(0, 65536, 7, dtype=np.uint16).view(FLOATS[name])
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5, 448.0, 464.0, 465.0, 480.0,
             57344.0, 61440.0, 61441.0, 65504.0, 65519.0, 65520.0, 3.4e38, 2.0**31, 2.0**32,
             2.0**63, 2.0**64, -(2.0**31), -(2.0**63), 1e-45, 1e-8, 6e-8, 2**-133, 2**-134,
             2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-16, 2.0**-17, 255.5, 127.5, -128.5,
             1e300]  # fmt: skip
    with np.errstate(over="ignore"):
        special = np.array(edges, np.float64).astype(FLOATS[name])
    bits = rng.integers(0, 2 ** (8 * np.dtype(FLOATS[name]).itemsize), 2000, dtype=np.uint64)
    unsigned = f"u{np.dtype(FLOATS[name]).itemsize}"
    return np.concatenate([special, bits.astype(unsigned).view(FLOATS[name])])


@pytest.mark.parametrize("source", DTYPES)
def test_conversions_between_all_dtypes(source: str) -> None:
    values = interesting(source)
    size = len(values)
    for target in DTYPES:

        def build(target: str = target):
            @T.prim_func
            def main(A: T.Tensor((size,), source), B: T.Tensor((size,), target)):
                with T.Kernel(1, threads=128):
                    for i in T.Parallel(size):
                        B[i] = T.cast(A[i], target)

            return main

        assert_same_bits(build, values, np.zeros(size, DTYPES[target]))


@pytest.mark.parametrize("name", [n for n in DTYPES if n != "bool"])
def test_arithmetic_of_edge_values(name: str) -> None:
    values = interesting(name)
    rng = np.random.default_rng(2)
    lhs, rhs = (values[rng.integers(0, len(values), 1500)] for _ in range(2))

    def build():
        @T.prim_func
        def main(
            A: T.Tensor((1500,), name),
            B: T.Tensor((1500,), name),
            C: T.Tensor((7, 1500), name),
        ):
            with T.Kernel(1, threads=128):
                for i in T.Parallel(1500):
                    C[0, i] = A[i] + B[i]
                    C[1, i] = A[i] - B[i]
                    C[2, i] = A[i] * B[i]
                    C[3, i] = T.max(A[i], B[i])
                    C[4, i] = T.min(A[i], B[i])
                    if name in INTEGERS:
                        C[5, i] = A[i] // B[i]
                        C[6, i] = A[i] % B[i]
                    else:
                        C[5, i] = A[i] / B[i]
                        C[6, i] = -A[i]

        return main

    assert_same_bits(build, lhs, rhs, np.zeros((7, 1500), DTYPES[name]))


@pytest.mark.parametrize("name", INTEGERS)
def test_shifts_by_any_count(name: str) -> None:
    values = interesting(name)
    counts = np.array([0, 1, 3, 7, 8, 15, 16, 31, 32, 63, 64, 65, 100, -1], np.int64)
    counts = counts.astype(INTEGERS[name])
    pairs = list(itertools.product(values, counts))
    lhs, rhs = (np.array(side, INTEGERS[name]) for side in zip(*pairs, strict=True))
    size = len(lhs)

    def build():
        @T.prim_func
        def main(
            A: T.Tensor((size,), name), B: T.Tensor((size,), name), C: T.Tensor((2, size), name)
        ):
            with T.Kernel(1, threads=128):
                for i in T.Parallel(size):
                    C[0, i] = A[i] << B[i]
                    C[1, i] = A[i] >> B[i]

        return main

    assert_same_bits(build, lhs, rhs, np.zeros((2, size), INTEGERS[name]))


# ---- Statements ----


@pytest.mark.parametrize("kind", ["sum", "max", "min", "abssum", "absmax"])
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "int8", "uint8", "int32"])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("clear", [True, False])
def test_reductions(kind: str, name: str, dim: int, clear: bool) -> None:
    rows, columns = 5, 37
    reduce = getattr(T, f"reduce_{kind}")
    rng = np.random.default_rng(3)
    low = 0 if name.startswith("u") else -3
    values = rng.integers(low, 4, (rows, columns)).astype(DTYPES[name])
    if name in FLOATS and kind in ("max", "min", "absmax"):
        values[1], values[:, 3], values[2, 5] = np.nan, np.nan, np.inf
    out = columns if dim == 0 else rows

    def build():
        @T.prim_func
        def main(A: T.Tensor((rows, columns), name), B: T.Tensor((out,), name)):
            with T.Kernel(1, threads=128):
                tile = T.alloc_fragment((rows, columns), name)
                result = T.alloc_fragment((out,), name)
                T.copy(A, tile)
                T.copy(B, result)
                reduce(tile, result, dim=dim, clear=clear)
                T.copy(result, B)

        return main

    assert_same_bits(build, values, np.full(out, 2, DTYPES[name]))


@pytest.mark.parametrize(
    "shape", [(16, 16, 16), (64, 32, 128), (7, 5, 3), (13, 70, 9), (48, 104, 24)]
)
@pytest.mark.parametrize("transposes", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(
    ("name", "accumulator"),
    [("float32", "float32"), ("float16", "float32"), ("float16", "float16"),
     ("bfloat16", "float32"), ("float8_e4m3fn", "float32"), ("float64", "float64"),
     ("int8", "int32"), ("uint8", "int32")],
)  # fmt: skip
def test_matrix_products(shape: tuple, transposes: tuple, name: str, accumulator: str) -> None:
    m, n, k = shape
    shape_a = (k, m) if transposes[0] else (m, k)
    shape_b = (n, k) if transposes[1] else (k, n)
    rng = np.random.default_rng(4)
    low = 0 if name == "uint8" else -2
    a, b = (rng.integers(low, 3, s).astype(DTYPES[name]) for s in (shape_a, shape_b))
    c = rng.integers(-2, 3, (m, n)).astype(DTYPES[accumulator])

    def build():
        @T.prim_func
        def main(
            A: T.Tensor(shape_a, name), B: T.Tensor(shape_b, name), C: T.Tensor((m, n), accumulator)
        ):
            with T.Kernel(1, threads=128):
                left = T.alloc_shared(shape_a, name)
                right = T.alloc_shared(shape_b, name)
                sums = T.alloc_fragment((m, n), accumulator)
                T.copy(A, left)
                T.copy(B, right)
                T.copy(C, sums)
                T.gemm(left, right, sums, transpose_A=transposes[0], transpose_B=transposes[1])
                T.copy(sums, C)

        return main

    assert_same_bits(build, a, b, c)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 100])
def test_copies_at_the_edge_of_a_dynamic_tensor(size: int) -> None:
    n = T.dynamic("n")

    def build():
        @T.prim_func
        def main(A: T.Tensor((n, 5), "float32"), B: T.Tensor((n, 5), "float32")):
            with T.Kernel(T.ceildiv(n, 32), threads=128) as block:
                tile = T.alloc_shared((32, 8), "float32")
                T.copy(A[block * 32, 0], tile)
                for i, j in T.Parallel(32, 8):
                    tile[i, j] = tile[i, j] + 1
                T.copy(tile, B[block * 32, 0])

        return main

    values = np.arange(size * 5, dtype=np.float32).reshape(size, 5)
    assert_same_bits(build, values, np.zeros((size, 5), np.float32))


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int32", "int64"])
@pytest.mark.parametrize("scatters", [False, True])
def test_atomic_sums_of_many_blocks(name: str, scatters: bool) -> None:
    """Blocks add into one tensor at the same time; `scatters` keeps them from taking row locks."""

    def build():
        @T.prim_func
        def main(A: T.Tensor((64, 24), name), B: T.Tensor((8, 24), name)):
            with T.Kernel(64, threads=128) as block:
                tile = T.alloc_shared((1, 24), name)
                T.copy(A[block, 0], tile)
                T.atomic_add(B[block % 8, 0:24], tile)
                if scatters:
                    for j in T.Parallel(24):
                        T.atomic_add(B[(block + j) % 8, j], A[block, j])

        return main

    values = np.random.default_rng(5).integers(-3, 4, (64, 24)).astype(DTYPES[name])
    assert_same_bits(build, values, np.zeros((8, 24), DTYPES[name]))


def test_arguments_that_overlap_are_not_assumed_apart() -> None:
    def build():
        @T.prim_func
        def main(A: T.Tensor((256,), "float32"), B: T.Tensor((256,), "float32")):
            with T.Kernel(1, threads=128):
                for i in T.serial(255):
                    B[i + 1] = A[i] + 1.0

        return main

    for engine in ("interp", *ENGINES):
        memory = np.zeros(256, np.float32)
        tilewright.compile(build(), device=engine)(memory, memory)
        np.testing.assert_array_equal(memory, np.arange(256))


# ---- Functions ----

#: What docs/cpu.md states; GPU code declares no more.
ULPS = {
    "exp": 2, "exp2": 2, "log": 2, "log2": 2, "tanh": 3, "rsqrt": 2, "sigmoid": 3,
    "log1p": 2, "log10": 2, "sin": 2, "cos": 2, "tan": 2, "sinh": 2, "cosh": 2, "atan": 2,
}  # fmt: skip
EXACT = {
    "rsqrt": lambda x: 1 / np.sqrt(x), "atan": np.arctan,
    # Below, exp(-x) is an infinity and the quotient 0; its value would be subnormal.
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ULPS)
def test_functions_are_within_their_stated_error(name: str, engine: str) -> None:
    function = getattr(T, name)
    bits = np.arange(0, 2**32, 40009, dtype=np.uint64).astype(np.uint32)
    x = np.concatenate([bits.view(np.float32), np.linspace(-3, 3, 20001, dtype=np.float32)])
    size = len(x)

    @T.prim_func
    def main(A: T.Tensor((size,), "float32"), B: T.Tensor((size,), "float32")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(size):
                B[i] = function(A[i])

    got = np.zeros(size, np.float32)
    tilewright.compile(main, device=engine)(x, got)
    with np.errstate(all="ignore"):
        exact = EXACT.get(name, getattr(np, name, None))(x.astype(np.float64))
        rounded = exact.astype(np.float32)
        unit = np.spacing(np.maximum(np.abs(rounded), np.finfo(np.float32).tiny))
        error = np.abs(got.astype(np.float64) - exact) / unit
    special = ~np.isfinite(rounded) | ~np.isfinite(got)
    np.testing.assert_array_equal(got[special], rounded[special])
    assert error[~special].max() <= ULPS[name]


@pytest.mark.skipif("avx512f" not in Path("/proc/cpuinfo").read_text(), reason="needs AVX-512")
@pytest.mark.parametrize("name", ["exp", "exp2"])
def test_powers_of_two_take_their_exponent_as_a_float(name: str, monkeypatch) -> None:
    monkeypatch.delenv("TILEWRIGHT_CPU", raising=False)
    function = getattr(T, name)

    @T.prim_func
    def main(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float16")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(1024):
                B[i] = function(A[i])

    code = tilewright.compile(main, target="cpu").program.compile_cpu()["asm"]
    lines = [line for line in code.splitlines() if "%zmm" in line]
    assert any("vscalefps" in line for line in lines)
    assert not any("vcvtdq2ps" in line or "vcvttps2dq" in line for line in lines)


def test_a_checked_index_is_not_trusted_elsewhere() -> None:
    """A layout's address is computed for an index that was found inside. The same index must still
    be checked where it is used next."""

    def build():
        @T.prim_func
        def main(
            A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32"), C: T.Tensor((2, 32), "int32")
        ):
            with T.Kernel(1, threads=32):
                T.annotate_layout({A: T.Layout((64,), lambda i: [i // 8, i % 8])})
                for i in T.Parallel(32):
                    place = i * 9 - 144
                    C[0, i] = A[place]
                    C[1, i] = B[place]

        return main

    values = np.arange(1, 65, dtype=np.int32)
    assert_same_bits(build, values, values + 100, np.zeros((2, 32), np.int32))


def test_atomic_sums_into_every_other_row() -> None:
    """Rows of a slice with a step, beyond the end of the tensor too."""

    def build():
        @T.prim_func
        def main(A: T.Tensor((16, 8), "float32"), B: T.Tensor((20, 8), "float32")):
            with T.Kernel(4, threads=32) as block:
                tile = T.alloc_shared((16, 8), "float32")
                T.copy(A, tile)
                T.atomic_add(B[block : block + 32 : 2, 0:8], tile)

        return main

    values = np.random.default_rng(6).integers(-3, 4, (16, 8)).astype(np.float32)
    assert_same_bits(build, values, np.zeros((20, 8), np.float32))
