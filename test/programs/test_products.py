"""Gemms that wgmma computes on sm_90a: every form of operand and shape, exact and without findings;
a remark says why a gemm stays on mma.sync."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tilewright
import tilewright.language as T

DEVICE = "vgpu:sm_90a"


def gemm(m, n, k, dtype, accum, threads, transposed, a_in_registers=False, clear=False):
    transpose_a, transpose_b = transposed
    a_shape = (k, m) if transpose_a else (m, k)
    b_shape = (n, k) if transpose_b else (k, n)

    @T.prim_func
    def main(A: T.Tensor(a_shape, dtype), B: T.Tensor(b_shape, dtype), C: T.Tensor((m, n), accum)):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared(a_shape, dtype)
            b = T.alloc_shared(b_shape, dtype)
            a_registers = T.alloc_fragment(a_shape, dtype)
            c = T.alloc_fragment((m, n), accum)
            T.copy(A, a)
            T.copy(B, b)
            T.copy(C, c)
            if a_in_registers:
                T.copy(a, a_registers)
                T.gemm(a_registers, b, c, transpose_A=transpose_a, transpose_B=transpose_b)
            else:
                T.gemm(a, b, c, transpose_A=transpose_a, transpose_B=transpose_b, clear_accum=clear)
            T.copy(c, C)

    return main


def check(m, n, k, dtype="float16", accum="float32", threads=128, transposed=(False, True),
          **options):  # fmt: skip
    """The kernel, after its values were compared with Python's integers."""
    function = gemm(m, n, k, dtype, accum, threads, transposed, **options)
    kernel = tilewright.compile(function, device=DEVICE)
    rng = np.random.default_rng(5)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    low = 0 if dtype == "uint8" else -2
    a, b = rng.integers(low, 3, (m, k)), rng.integers(low, 3, (k, n))
    c = rng.integers(-2, 3, (m, n)).astype(accum)
    expected = (0 if options.get("clear") else c.astype(np.int64)) + a @ b
    a, b = a.T if transposed[0] else a, b.T if transposed[1] else b
    kernel(np.ascontiguousarray(a).astype(kind), np.ascontiguousarray(b).astype(kind), c)
    np.testing.assert_array_equal(c.astype(np.int64), expected)
    assert not kernel.findings
    return kernel


def instructions(kernel) -> set[str]:
    """The shapes of the products in the code: `m64n128k16`."""
    return {
        word
        for line in kernel.ptx.splitlines()
        if "wgmma.mma_async" in line
        for word in line.replace(" ", ".").split(".")
        if word.startswith("m64n")
    }


@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_operands_may_run_either_way(dtype: str, transposed) -> None:
    assert instructions(check(64, 64, 64, dtype, transposed=transposed)) == {"m64n64k16"}
    assert "mma.sync" not in check(128, 128, 32, dtype, threads=256, transposed=transposed).ptx


@pytest.mark.parametrize("n", [8, 16, 24, 40, 72, 120, 248, 256])
def test_every_width_of_an_instruction(n: int) -> None:
    assert instructions(check(64, n, 32)) == {f"m64n{n}k16"}


@pytest.mark.parametrize(
    ("m", "n", "threads", "shape"),
    [
        (128, 256, 256, "m64n256k16"),  # two groups along M read fewest bytes
        (64, 256, 256, "m64n128k16"),  # no other way than along N
        (256, 64, 256, "m64n64k16"),
        (128, 128, 512, "m64n64k16"),
        (64, 320, 128, "m64n160k16"),
    ],
)
def test_groups_share_the_result(m: int, n: int, threads: int, shape: str) -> None:
    assert instructions(check(m, n, 32, threads=threads)) == {shape}


@pytest.mark.parametrize("k", [16, 32, 48, 64, 96, 128, 192])
def test_every_swizzle_and_depth(k: int) -> None:
    """16 elements of K are 32 bytes, 32 are 64, 64 are 128; 48 and 96 are several panels."""
    assert instructions(check(64, 32, k)) == {"m64n32k16"}


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("n", [8, 24, 32, 96])
def test_integers(dtype: str, n: int) -> None:
    assert instructions(check(64, n, 64, dtype, "int32")) == {f"m64n{n}k32"}


def test_integers_of_other_widths_take_several_instructions() -> None:
    assert instructions(check(64, 40, 64, "int8", "int32")) == {"m64n8k32"}


def test_half_accumulators() -> None:
    assert instructions(check(64, 64, 64, accum="float16")) == {"m64n64k16"}


def test_a_cleared_product_reads_no_sums() -> None:
    kernel = check(64, 64, 64, clear=True)
    first = next(line for line in kernel.ptx.splitlines() if "wgmma.mma_async" in line)
    assert first.split("}")[1].split(",")[3].strip() == "0"


def test_a_from_registers() -> None:
    kernel = check(128, 64, 64, threads=256, a_in_registers=True)
    assert instructions(kernel) == {"m64n64k16"}
    assert any("A from registers" in remark.message for remark in kernel.remarks)


@pytest.mark.parametrize(
    ("m", "n", "k", "dtype", "accum", "threads", "transposed", "reason"),
    [
        (32, 96, 32, "float16", "float32", 128, (False, True), "no grid of 1 warpgroup divides"),
        (64, 64, 24, "float16", "float32", 128, (False, True), "K = 24 is not a multiple of 16"),
        (64, 64, 32, "float16", "float32", 64, (False, True), "whole number of warpgroups"),
        (64, 64, 64, "int8", "int32", 128, (False, False), "only along K"),
    ],
)
def test_what_wgmma_cannot_do_says_why(m, n, k, dtype, accum, threads, transposed, reason) -> None:
    kernel = check(m, n, k, dtype, accum, threads, transposed)
    assert not instructions(kernel)
    texts = [remark.message for remark in kernel.remarks]
    assert any(reason in text for text in texts), texts


def tf32_gemm(m, n, k, threads, transposed, stages, source, fill, a_in_registers=False):
    """Tiles of tfloat32, filled from tensors of `source`; `fill` writes some of A once more."""
    transpose_a, transpose_b = transposed
    a_shape = (32, m) if transpose_a else (m, 32)
    b_shape = (n, 32) if transpose_b else (32, n)

    @T.prim_func
    def main(
        A: T.Tensor((k, m) if transpose_a else (m, k), source),
        B: T.Tensor((n, k) if transpose_b else (k, n), source),
        C: T.Tensor((m, n), "float32"),
        D: T.Tensor(a_shape, "tfloat32"),
    ):
        with T.Kernel(1, threads=threads):
            a = T.alloc_shared(a_shape, "tfloat32")
            b = T.alloc_shared(b_shape, "tfloat32")
            a_registers = T.alloc_fragment(a_shape, "tfloat32")
            c = T.alloc_fragment((m, n), "float32")
            T.clear(c)
            for i in T.Pipelined(k // 32, num_stages=stages):
                T.copy(A[i * 32, 0] if transpose_a else A[0, i * 32], a)
                T.copy(B[0, i * 32] if transpose_b else B[i * 32, 0], b)
                if fill == "clear":
                    T.clear(a)
                if fill == "copy":
                    T.copy(D, a)
                if a_in_registers:
                    T.copy(A[0, i * 32], a_registers)
                    T.gemm(a_registers, b, c, transpose_B=transpose_b)
                else:
                    T.gemm(a, b, c, transpose_A=transpose_a, transpose_B=transpose_b)
            T.copy(c, C)

    return main


def check_tf32(m=64, n=64, k=96, threads=128, transposed=(False, True), stages=2,
               source="float32", fill="", **options):  # fmt: skip
    """Every element of A lies half a digit of tfloat32 above a whole number: it is rounded away
    from zero, and would lose that digit if it were cut off."""
    function = tf32_gemm(m, n, k, threads, transposed, stages, source, fill, **options)
    kernel = tilewright.compile(function, device=DEVICE)
    rng = np.random.default_rng(7)
    signs = rng.choice([-1.0, 1.0], (m, k)).astype(np.float32)
    a, rounded = signs * np.float32(1 + 2**-11), signs * np.float32(1 + 2**-10)
    b = rng.integers(-2, 3, (k, n)).astype(np.float32)
    c = np.full((m, n), np.nan, np.float32)
    d = np.full((32, m) if transposed[0] else (m, 32), 1 + 2**-11, np.float32)
    left = {"": rounded, "clear": 0 * rounded, "copy": np.full((m, k), 1 + 2**-10)}[fill]
    stored = (
        np.ascontiguousarray(x.T if t else x) for x, t in zip((a, b), transposed, strict=True)
    )
    kernel(*stored, c, d)
    np.testing.assert_array_equal(c, (left.astype(np.float64) @ b).astype(np.float32))
    assert not kernel.findings
    return kernel


@pytest.mark.parametrize("mode", ["", "late"])
@pytest.mark.parametrize("m, n, threads", [(64, 64, 128), (128, 40, 256), (64, 256, 256)])
@pytest.mark.parametrize("stages", [0, 2])
def test_tfloat32_that_was_rounded(m, n, threads, stages, mode, monkeypatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", mode)
    kernel = check_tf32(m, n, threads=threads, stages=stages)
    assert len(instructions(kernel)) == 1 and "k8.f32.tf32.tf32" in kernel.ptx
    assert "mma.sync" not in kernel.ptx


def test_tfloat32_of_a_constant() -> None:
    assert instructions(check_tf32(fill="clear"))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"source": "tfloat32"}, "elements of 'a' may have bits that are still to be rounded"),
        ({"fill": "copy"}, "elements of 'a' may have bits that are still to be rounded"),
        ({"transposed": (False, False)}, "only along K"),
        ({"transposed": (True, True)}, "only along K"),
        ({"a_in_registers": True}, "A lives in registers as tfloat32"),
    ],
)
def test_tfloat32_that_wgmma_would_not_round(options, reason) -> None:
    kernel = check_tf32(**options)
    assert not instructions(kernel)
    texts = [remark.message for remark in kernel.remarks]
    assert any(reason in text for text in texts), texts


def pipelined(m, n, k, block_k, stages, threads):
    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((n, k), "float16"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 128), threads=threads) as (bx, by):
            a = T.alloc_shared((128, block_k), "float16")
            b = T.alloc_shared((64, block_k), "float16")
            c = T.alloc_fragment((128, 64), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, block_k), num_stages=stages):
                T.copy(A[by * 128, i * block_k], a)
                T.copy(B[bx * 64, i * block_k], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 128, bx * 64])

    return main


@pytest.mark.parametrize("stages", [0, 1, 2, 3])
@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_pipelines_of_any_length(stages: int, trips: int) -> None:
    """Ragged edges included."""
    m, n, k = 200, 100, 32 * trips - (8 if trips > 1 else 0)
    kernel = tilewright.compile(pipelined(m, n, k, 32, stages, 256), device=DEVICE)
    rng = np.random.default_rng(6)
    a = rng.integers(-2, 3, (m, k)).astype(np.float16)
    b = rng.integers(-2, 3, (n, k)).astype(np.float16)
    c = np.full((m, n), 7, np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert not kernel.findings
    assert bool(instructions(kernel)) == (trips > 0)


def test_attention_keeps_its_scores_in_registers() -> None:
    """The sums of Q K^T become the operand A of P V, slot for slot."""
    rows, columns, heads = 128, 64, 64

    @T.prim_func
    def main(
        Q: T.Tensor((rows, heads), "float16"),
        K: T.Tensor((columns, heads), "float16"),
        V: T.Tensor((columns, heads), "float16"),
        O: T.Tensor((rows, heads), "float32"),  # noqa: E741
    ):
        with T.Kernel(1, threads=256):
            q = T.alloc_shared((rows, heads), "float16")
            k = T.alloc_shared((columns, heads), "float16")
            v = T.alloc_shared((columns, heads), "float16")
            scores = T.alloc_fragment((rows, columns), "float32")
            cast = T.alloc_fragment((rows, columns), "float16")
            out = T.alloc_fragment((rows, heads), "float32")
            T.copy(Q, q)
            T.copy(K, k)
            T.copy(V, v)
            T.gemm(q, k, scores, transpose_B=True, clear_accum=True)
            for i, j in T.Parallel(rows, columns):
                scores[i, j] = T.max(scores[i, j], 0)
            T.copy(scores, cast)
            T.gemm(cast, v, out, clear_accum=True)
            T.copy(out, O)

    kernel = tilewright.compile(main, device=DEVICE)
    rng = np.random.default_rng(8)
    q, k, v = (rng.integers(-1, 2, (n, heads)).astype(np.float16) for n in (rows, columns, columns))
    result = np.zeros((rows, heads), np.float32)
    kernel(q, k, v, result)
    scores = np.maximum(q.astype(np.float32) @ k.astype(np.float32).T, 0)
    np.testing.assert_array_equal(result, scores @ v.astype(np.float32))
    assert not kernel.findings
    assert "mma.sync" not in kernel.ptx
    assert "shfl.sync.bfly" not in kernel.ptx


def summed_rows(into_shared: bool):
    """Rows of a product are summed; a loop adds the sums to a shared row, or they go there."""

    @T.prim_func
    def main(
        A: T.Tensor((64, 64), "float16"),
        B: T.Tensor((64, 64), "float16"),
        C: T.Tensor((64, 64), "float32"),
        S: T.Tensor((64,), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            row = T.alloc_fragment((64,), "float32")
            total = T.alloc_shared((64,), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.copy(S, total)
            for _ in T.serial(2):
                T.gemm(a, b, c, transpose_B=True, clear_accum=True)
                if into_shared:
                    T.reduce_sum(c, total, dim=1)
                else:
                    T.reduce_sum(c, row, dim=1)
                    for i in T.Parallel(64):
                        total[i] += row[i]
            T.copy(c, C)
            T.copy(total, S)

    return main


@pytest.mark.parametrize("into_shared", [False, True])
@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80", DEVICE])
def test_rows_of_sums_in_shared_memory(device: str, into_shared: bool) -> None:
    """Tensor cores keep their registers, whatever one statement needs of them."""
    kernel = tilewright.compile(summed_rows(into_shared), device=device)
    rng = np.random.default_rng(9)
    a, b = (rng.integers(-2, 3, (64, 64)).astype(np.float16) for _ in range(2))
    c, total = np.zeros((64, 64), np.float32), np.ones(64, np.float32)
    kernel(a, b, c, total)
    product = a.astype(np.float32) @ b.astype(np.float32).T
    np.testing.assert_array_equal(c, product)
    once = product.sum(1)
    np.testing.assert_array_equal(total, once if into_shared else 1 + 2 * once)
    assert not kernel.findings
    said = "\n".join(str(remark) for remark in kernel.remarks)
    if device == DEVICE:
        assert instructions(kernel) == {"m64n64k16"}
        assert "'c' lives in shared memory" not in said
    if not into_shared:
        assert "'row' lives in shared memory" not in said


@pytest.mark.parametrize(("depth", "step"), [(512, 256), (384, 128), (192, 96)])
def test_float8_sums_that_are_promoted_are_cleared_at_run_time(depth: int, step: int) -> None:
    """They go to float32 in pieces, of which the first of the first step starts from 0."""
    dtype = "float8_e4m3fn"

    @T.prim_func
    def main(
        A: T.Tensor((64, depth), dtype),
        B: T.Tensor((64, depth), dtype),
        C: T.Tensor((64, 64), "float32"),
    ):
        with T.Kernel(1, threads=128):
            a, b = T.alloc_shared((64, step), dtype), T.alloc_shared((64, step), dtype)
            c = T.alloc_fragment((64, 64), "float32")
            T.fill(c, 9)
            for k in T.Pipelined(depth // step, num_stages=2):
                T.copy(A[0:64, k * step : k * step + step], a)
                T.copy(B[0:64, k * step : k * step + step], b)
                T.gemm(a, b, c, transpose_B=True, clear_accum=(k == 0))
            T.copy(c, C)

    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (64, depth)).astype(ml_dtypes.float8_e4m3fn) for _ in "ab")
    c = np.zeros((64, 64), np.float32)
    kernel = tilewright.compile(main, device="vgpu:sm_90a")
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32).T)
    assert "wgmma" in kernel.ptx
