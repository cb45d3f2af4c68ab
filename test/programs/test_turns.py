"""Warpgroups that take turns at issuing products (ping-pong): chosen by the schedule's model where
a product beside the next iteration would need more registers than there are. Every program runs
with asynchronous work done at once and at the last moment (late mode), with all checks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.arguments import convert_argument
from tilewright.ptxas import assemble, find_ptxas

DEVICE = "vgpu:sm_90a"
DIM = 128


@pytest.fixture(params=["", "late"], autouse=True)
def mode(request, monkeypatch) -> str:
    if request.param:
        monkeypatch.setenv("TILEWRIGHT_VGPU_MODE", request.param)
    return request.param


def attention(rows: int, tile: int, causal: bool = False, rounds: int = 1) -> Any:
    """Attention of one head over `count` tiles of keys, done `rounds` times."""
    keys = T.dynamic("keys")
    scale = 1.44269504 / DIM**0.5

    @T.prim_func
    def main(
        Q: T.Tensor((rows, DIM), "float16"),
        K: T.Tensor((keys, DIM), "float16"),
        V: T.Tensor((keys, DIM), "float16"),
        Output: T.Tensor((rounds, rows, DIM), "float32"),
        count: T.int32,
    ):
        with T.Kernel(1, threads=256):
            q = T.alloc_shared((rows, DIM), "float16")
            k = T.alloc_shared((tile, DIM), "float16")
            v = T.alloc_shared((tile, DIM), "float16")
            s = T.alloc_fragment((rows, tile), "float32")
            p = T.alloc_fragment((rows, tile), "float16")
            o = T.alloc_fragment((rows, DIM), "float32")
            top = T.alloc_fragment((rows,), "float32")
            before = T.alloc_fragment((rows,), "float32")
            factor = T.alloc_fragment((rows,), "float32")
            part = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.copy(Q, q)
            for r in T.serial(rounds):
                T.clear(o)
                T.clear(total)
                T.fill(top, -1e30)
                for n in T.Pipelined(count, num_stages=2):
                    T.copy(K[n * tile, 0], k)
                    if causal:
                        for i, j in T.Parallel(rows, tile):
                            s[i, j] = T.if_then_else(i >= n * tile + j, 0, -1e30)
                    else:
                        T.clear(s)
                    T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                    T.copy(top, before)
                    T.reduce_max(s, top, dim=1, clear=False)
                    for i in T.Parallel(rows):
                        factor[i] = T.exp2((before[i] - top[i]) * scale)
                    for i, j in T.Parallel(rows, tile):
                        s[i, j] = T.exp2((s[i, j] - top[i]) * scale)
                    T.reduce_sum(s, part, dim=1)
                    for i in T.Parallel(rows):
                        total[i] = total[i] * factor[i] + part[i]
                    T.copy(s, p)
                    for i, j in T.Parallel(rows, DIM):
                        o[i, j] *= factor[i]
                    T.copy(V[n * tile, 0], v)
                    T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(rows, DIM):
                    Output[r, i, j] = o[i, j] + total[i]

    return main


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    if not len(k):
        return np.zeros((len(q), DIM), np.float32)
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    if causal:
        scores[np.tri(*scores.shape) == 0] = -1e30
    top = np.maximum(scores.max(1, keepdims=True), -1e30)
    p = np.exp2((scores - top) * (1.44269504 / DIM**0.5))
    return p @ v.astype(np.float64) + p.sum(1, keepdims=True)


def compile_and_run(count: int, causal: bool = False, rounds: int = 1, **sizes: int) -> Any:
    """The kernel, after its results have been compared."""
    rows, tile = sizes.get("rows", 256), sizes.get("tile", 64)
    generator = np.random.default_rng(count)
    q, k, v = (
        generator.standard_normal((n, DIM)).astype(np.float16) for n in (rows, 5 * tile, 5 * tile)
    )
    kernel = tilewright.compile(attention(rows, tile, causal, rounds), device=DEVICE)
    output = np.zeros((rounds, rows, DIM), np.float32)
    kernel(q, k, v, output, count)
    assert not kernel.findings
    want = expected(q, k[: tile * count], v[: tile * count], causal)
    np.testing.assert_allclose(output, np.broadcast_to(want, output.shape), rtol=4e-3, atol=4e-3)
    return kernel


def said(kernel: Any, text: str) -> list[Any]:
    return [remark for remark in kernel.remarks if text in str(remark)]


@pytest.mark.parametrize(
    "count, causal, rounds",
    [(0, False, 1), (1, False, 1), (2, False, 1), (5, False, 1), (1, True, 1), (4, True, 1),
     (0, False, 2), (3, False, 2)],
)  # fmt: skip
def test_any_number_of_iterations(count: int, causal: bool, rounds: int) -> None:
    kernel = compile_and_run(count, causal, rounds)
    assert said(kernel, "2 warpgroups take turns")


def test_the_model_compares_orders() -> None:
    """Where registers are short, and where they are not: there turns save nothing."""
    short = compile_and_run(2)
    assert said(short, "beside the next one it takes 280 registers a thread, of 240")
    (prediction,) = said(short, "predicted:")
    cycles, written = prediction.data["cycles"], prediction.data["as_written"]
    assert cycles == prediction.data["in_turns"] < 0.9 * written
    assert f"{written} in the order of the program" in str(prediction)
    assert "product of 's'" in prediction.data["critical"]
    roomy = compile_and_run(2, rows=128, tile=128)
    assert not said(roomy, "take turns:")
    (prediction,) = said(roomy, "predicted:")
    assert prediction.data["cycles"] == prediction.data["moved"] <= prediction.data["in_turns"]


def test_the_turn_goes_round() -> None:
    """It is opened once, taken in front of P V, passed after Q K, and closed once."""
    ptx = compile_and_run(3).ptx
    kinds = re.findall(r"bar\.(sync|arrive)\s+%r\d+, |wgmma\.(fence)", ptx)
    order = ["".join(kind) for kind in kinds]
    assert order == [
        "arrive",  # opened by the last warpgroup
        "sync", "fence", "arrive", "sync", "fence", "arrive",  # taken by O, passed by S
        "sync",  # closed by the first one
    ]  # fmt: skip


def test_the_scheduled_program_means_the_same(mode: str) -> None:
    """The interpreter runs what the passes made, in adverse orders."""
    if mode:
        return
    program = attention(256, 64).program
    arrays = [np.ones((n, DIM), np.float16) for n in (256, 192, 192)]
    arrays[0][:, ::3] = -1
    arrays[1][::2] = 0.5
    results = []
    for options in ({}, {"schedule": "sm_90a"}, {"schedule": "sm_90a", "thread_order": 1}):
        output = np.zeros((1, 256, DIM), np.float32)
        arguments = [
            convert_argument(value, parameter)
            for value, parameter in zip([*arrays, output, 3], program.params, strict=True)
        ]
        findings = program.run("interp", arguments, options)["findings"]
        assert [found for found in findings if found["severity"] != "note"] == []
        results.append(output)
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
def test_ptxas_keeps_products_open(mode: str) -> None:
    if mode:
        return
    kernel = compile_and_run(1)
    (usage,) = assemble(kernel.ptx, "sm_90a").usage.values()
    assert usage.spill_store_bytes == 0
