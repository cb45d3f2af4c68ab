"""Causal attention: tiles that the mask lets through run in a loop without it, the others one by
one, in code that is there once. Every program runs with asynchronous work done at once and at the
last moment (late mode), with all checks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.arguments import convert_argument

DEVICE = "vgpu:sm_90a"
DIM = 64


@pytest.fixture(params=["", "late"], autouse=True)
def mode(request, monkeypatch) -> str:
    if request.param:
        monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param)
    return request.param


def attention(rows: int, columns: int, stages: int = 2, past: int = 0, length: int = 0) -> Any:
    """Causal attention over blocks of rows and tiles of columns; `past` more keys come first. Its
    length is a number of the call if none is given."""
    keys = length + past if length else T.dynamic("keys")
    length = length or T.dynamic("length")
    scale = 1.44269504 / DIM**0.5

    @T.prim_func
    def main(
        Q: T.Tensor((length, DIM), "float16"),
        K: T.Tensor((keys, DIM), "float16"),
        V: T.Tensor((keys, DIM), "float16"),
        Output: T.Tensor((length, DIM), "float32"),
    ):
        with T.Kernel(T.ceildiv(length, rows), threads=256) as bx:
            q = T.alloc_shared((rows, DIM), "float16")
            k = T.alloc_shared((columns, DIM), "float16")
            v = T.alloc_shared((columns, DIM), "float16")
            s = T.alloc_fragment((rows, columns), "float32")
            p = T.alloc_fragment((rows, columns), "float16")
            o = T.alloc_fragment((rows, DIM), "float32")
            top = T.alloc_fragment((rows,), "float32")
            before = T.alloc_fragment((rows,), "float32")
            factor = T.alloc_fragment((rows,), "float32")
            part = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.copy(Q[bx * rows, 0], q)
            T.clear(o)
            T.clear(total)
            T.fill(top, -1e30)
            tiles = T.min(T.ceildiv(keys, columns), T.ceildiv((bx + 1) * rows + past, columns))
            for n in T.Pipelined(tiles, num_stages=stages):
                T.copy(K[n * columns, 0], k)
                for i, j in T.Parallel(rows, columns):
                    s[i, j] = T.if_then_else(bx * rows + i + past >= n * columns + j, 0, -1e30)
                T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.reduce_max(s, top, dim=1, clear=False)
                for i in T.Parallel(rows):
                    factor[i] = T.exp2((before[i] - top[i]) * scale)
                for i, j in T.Parallel(rows, columns):
                    s[i, j] = T.exp2((s[i, j] - top[i]) * scale)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(rows):
                    total[i] = total[i] * factor[i] + part[i]
                T.copy(s, p)
                for i, j in T.Parallel(rows, DIM):
                    o[i, j] *= factor[i]
                T.copy(V[n * columns, 0], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(rows, DIM):
                Output[bx * rows + i, j] = o[i, j] / total[i]

    return main


def draw(length: int, keys: int) -> list[np.ndarray]:
    generator = np.random.default_rng(length)
    return [generator.standard_normal((n, DIM)).astype(np.float16) for n in (length, keys, keys)]


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray, past: int) -> np.ndarray:
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    scores[np.tri(*scores.shape, past) == 0] = -np.inf
    p = np.exp2((scores - scores.max(1, keepdims=True)) * (1.44269504 / DIM**0.5))
    return (p @ v.astype(np.float64)) / p.sum(1, keepdims=True)


def has_segments(kernel: Any) -> bool:
    return any("the others one by one" in str(remark) for remark in kernel.remarks)


@pytest.mark.parametrize(
    "rows, columns, stages, past, length",
    [(128, 128, 2, 0, 384), (128, 128, 2, 0, 128), (128, 64, 2, 0, 256), (128, 64, 3, 0, 320),
     (128, 128, 3, 64, 256), (128, 64, 2, 100, 192)],
)  # fmt: skip
def test_every_block_has_its_tiles(
    rows: int, columns: int, stages: int, past: int, length: int
) -> None:
    kernel = tilewright.compile(attention(rows, columns, stages, past), device=DEVICE)
    q, k, v = draw(length, length + past)
    output = np.zeros((length, DIM), np.float32)
    kernel(q, k, v, output)
    assert not kernel.findings
    assert has_segments(kernel)
    np.testing.assert_allclose(output, expected(q, k, v, past), rtol=4e-3, atol=4e-3)


def test_code_is_there_once_with_the_mask_and_once_without(mode: str) -> None:
    """The first iteration of a segment and the loop have both products, P V follows them."""
    if mode:
        return
    ptx = tilewright.compile(attention(128, 128), target="sm_90a").ptx
    assert ptx.count("wgmma.mma_async") == (4 + 8) + (4 + 8) + 8
    assert ptx.count("selp.f32") <= 64 + 8  # the mask of one tile


def test_columns_of_a_mask_are_compared_with_constants(mode: str) -> None:
    """A thread's row less its first column, with the distances of the other columns."""
    if mode:
        return
    ptx = tilewright.compile(attention(128, 128, length=512), target="sm_90a").ptx
    compares = re.findall(r"setp\.lt\.s32 \s*%p\d+, (%r\d+), (\d+);", ptx)
    assert len({distance for distance, _ in compares}) == 2  # of the thread's two rows
    assert sorted({int(n) for _, n in compares}) == [8 * n + e for n in range(16) for e in (0, 1)]


def test_a_mask_that_may_hold_nowhere_is_split_as_before(mode: str) -> None:
    """Where many iterations may need the mask, they keep products beside them."""
    if mode:
        return

    @T.prim_func
    def main(
        A: T.Tensor((128, 1024), "float16"),
        B: T.Tensor((1024, 128), "float16"),
        C: T.Tensor((128, 128), "float32"),
        L: T.Tensor((128, 128), "float32"),
    ):
        with T.Kernel(1, threads=256):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            late = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            T.clear(late)
            for k in T.Pipelined(16, num_stages=3):
                T.copy(A[0, k * 64], a)
                T.copy(B[k * 64, 0], b)
                for i, j in T.Parallel(128, 128):
                    late[i, j] += T.if_then_else(i >= k * 8 + j, 1, 2)
                T.gemm(a, b, c)
            T.copy(c, C)
            T.copy(late, L)

    kernel = tilewright.compile(main, device=DEVICE)
    a, b = (np.ones(shape, np.float16) for shape in ((128, 1024), (1024, 128)))
    c, late = np.zeros((128, 128), np.float32), np.zeros((128, 128), np.float32)
    kernel(a, b, c, late)
    assert not has_segments(kernel) and (c == 1024).all()
    steps = np.arange(16)[:, None, None] * 8 + np.arange(128)
    assert (late == np.where(np.arange(128)[:, None] >= steps, 1, 2).sum(0)).all()


def test_segments_of_a_loop_with_one_product(mode: str) -> None:
    """A later segment releases what the iteration before it read, the first one nothing."""

    @T.prim_func
    def main(
        A: T.Tensor((512, 512), "float16"),
        B: T.Tensor((512, 128), "float16"),
        C: T.Tensor((512, 128), "float32"),
        L: T.Tensor((512, 128), "float32"),
    ):
        with T.Kernel(4, threads=256) as bx:
            a = T.alloc_shared((128, 128), "float16")
            b = T.alloc_shared((128, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            late = T.alloc_fragment((128, 128), "float32")
            T.clear(c)
            T.clear(late)
            for k in T.Pipelined(T.ceildiv((bx + 1) * 128, 128), num_stages=3):
                T.copy(A[bx * 128, k * 128], a)
                T.copy(B[k * 128, 0], b)
                for i, j in T.Parallel(128, 128):
                    late[i, j] += T.if_then_else(bx * 128 + i >= k * 128 + j, 1, 2)
                T.gemm(a, b, c)
            T.copy(c, C[bx * 128, 0])
            T.copy(late, L[bx * 128, 0])

    kernel = tilewright.compile(main, device=DEVICE)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-2, 3, n).astype(np.float16) for n in ((512, 512), (512, 128)))
    c, late = np.zeros((512, 128), np.float32), np.zeros((512, 128), np.float32)
    kernel(a, b, c, late)
    assert has_segments(kernel)
    for block in range(4):
        rows, end = slice(block * 128, block * 128 + 128), block * 128 + 128
        product = a[rows, :end].astype(np.float32) @ b[:end].astype(np.float32)
        np.testing.assert_array_equal(c[rows], product)
        masked = np.where(np.arange(128)[:, None] >= np.arange(128), 1, 2)
        np.testing.assert_array_equal(late[rows], block + masked)


def test_masked_tiles_have_a_product_beside_them(mode: str) -> None:
    """In front of a softmax, a product is left open: that of the segment's first iteration, too."""
    if mode:
        return
    ptx = tilewright.compile(attention(128, 128), target="sm_90a").ptx
    assert re.findall(r"wgmma\.wait_group\.sync\.aligned (\d);", ptx).count("1") == 2


def test_the_scheduled_program_means_the_same(mode: str) -> None:
    """The interpreter runs what the passes made, in adverse orders."""
    if mode:
        return
    program = attention(128, 64).program
    arrays = [np.ones((n, DIM), np.float16) for n in (256, 256, 256)]
    arrays[0][:, ::3] = -1
    arrays[1][::2] = 0.5
    results = []
    for options in ({}, {"schedule": "sm_90a"}, {"schedule": "sm_90a", "thread_order": 1}):
        output = np.zeros((256, DIM), np.float32)
        arguments = [
            convert_argument(value, parameter)
            for value, parameter in zip([*arrays, output], program.params, strict=True)
        ]
        findings = program.run("interp", arguments, options)["findings"]
        assert [found for found in findings if found["severity"] != "note"] == []
        results.append(output)
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])
