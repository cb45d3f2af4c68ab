"""The interpreter runs programs as the passes have scheduled them: every order of teams and effects
gives what the program as written gives, and no two accesses are left without an order."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import tilewright.language as T
from tilewright._core import core
from tilewright.arguments import convert_argument

ROOT = Path(__file__).resolve().parents[2]
ARCHS = ("sm_80", "sm_90a")
ORDERS = (0, 1, 2, 3)  # early, late, and two random ones


def matmul(M: int, N: int, K: int, block_k: int = 32, stages: int = 3) -> Any:
    @T.prim_func
    def main(
        A: T.Tensor((M, K), "float16"),
        B: T.Tensor((K, N), "float16"),
        C: T.Tensor((M, N), "float16"),
    ):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, block_k), "float16")
            b = T.alloc_shared((block_k, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_k), num_stages=stages):
                T.copy(A[by * 64, k * block_k], a)
                T.copy(B[k * block_k, bx * 64], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 64, bx * 64])

    return main


def attention(length: int, causal: bool) -> Any:
    @T.prim_func
    def main(
        Q: T.Tensor((length, 64), "float16"),
        K: T.Tensor((length, 64), "float16"),
        V: T.Tensor((length, 64), "float16"),
        O: T.Tensor((length, 64), "float16"),
    ):
        with T.Kernel(T.ceildiv(length, 64), threads=128) as bx:
            q = T.alloc_shared((64, 64), "float16")
            k = T.alloc_shared((64, 64), "float16")
            v = T.alloc_shared((64, 64), "float16")
            s = T.alloc_fragment((64, 64), "float32")
            p = T.alloc_fragment((64, 64), "float16")
            o = T.alloc_fragment((64, 64), "float32")
            top = T.alloc_fragment((64,), "float32")
            old = T.alloc_fragment((64,), "float32")
            scale = T.alloc_fragment((64,), "float32")
            part = T.alloc_fragment((64,), "float32")
            total = T.alloc_fragment((64,), "float32")
            T.copy(Q[bx * 64, 0], q)
            T.clear(o)
            T.clear(total)
            T.fill(top, -T.infinity("float32"))
            for n in T.Pipelined(bx + 1 if causal else T.ceildiv(length, 64), num_stages=2):
                T.copy(K[n * 64, 0], k)
                if causal:
                    for i, j in T.Parallel(64, 64):
                        s[i, j] = T.if_then_else(
                            bx * 64 + i >= n * 64 + j, 0, -T.infinity("float32")
                        )
                else:
                    T.clear(s)
                T.gemm(q, k, s, transpose_B=True)
                T.copy(V[n * 64, 0], v)
                T.copy(top, old)
                T.reduce_max(s, top, dim=1, clear=False)
                for i in T.Parallel(64):
                    scale[i] = T.exp2(old[i] - top[i])
                for i, j in T.Parallel(64, 64):
                    s[i, j] = T.exp2(s[i, j] - top[i])
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(64):
                    total[i] = total[i] * scale[i] + part[i]
                T.copy(s, p)
                for i, j in T.Parallel(64, 64):
                    o[i, j] *= scale[i]
                T.gemm(p, v, o)
            for i, j in T.Parallel(64, 64):
                o[i, j] /= total[i]
            T.copy(o, O[bx * 64, 0])

    return main


def interpret(program: Any, arrays: list[np.ndarray], **options: Any) -> list[dict]:
    """What the interpreter finds, but for notes; the arrays are updated."""
    arguments = [
        convert_argument(array, parameter)
        for array, parameter in zip(arrays, program.params, strict=True)
    ]
    result = program.run("interp", arguments, options)
    return [finding for finding in result["findings"] if finding["severity"] != "note"]


def make_arrays(kernel: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    arrays = [
        rng.integers(-2, 3, tuple(parameter["shape"])).astype(np.float16)
        for parameter in kernel.program.params
    ]
    arrays[-1][:] = 0
    return arrays


def check(kernel: Any, arch: str) -> None:
    expected = make_arrays(kernel)
    assert interpret(kernel.program, expected) == []
    for order in ORDERS:
        arrays = make_arrays(kernel)
        findings = interpret(kernel.program, arrays, schedule=arch, thread_order=order)
        assert [finding["text"] for finding in findings] == [], f"order {order}"
        np.testing.assert_array_equal(arrays[-1], expected[-1], f"order {order}")


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("depth", [32, 64, 96, 160])
def test_matmul(arch: str, depth: int) -> None:
    check(matmul(64, 128, depth), arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_matmul_of_a_ragged_shape(arch: str) -> None:
    check(matmul(72, 40, 88), arch)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("causal", [False, True])
def test_attention(arch: str, causal: bool) -> None:
    check(attention(192, causal), arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_roles_of_the_users(arch: str) -> None:
    """Roles that share the program's threads, with the user's own barriers."""
    path = ROOT / "examples" / "warp_specialized_matmul.py"
    make = runpy.run_path(str(path))["warp_specialized_matmul"]
    program = make(64, 128, 96).program
    rng = np.random.default_rng(1)
    a = rng.integers(-2, 3, (64, 96)).astype(np.float16)
    b = rng.integers(-2, 3, (96, 128)).astype(np.float16)
    for order in ORDERS:
        c = np.zeros((64, 128), np.float32)
        assert interpret(program, [a, b, c], schedule=arch, thread_order=order) == []
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("arch", ARCHS)
def test_the_seed(arch: str) -> None:
    path = ROOT / "examples" / "seed" / "flash_attention_backward.py"
    with patch.dict(os.environ, TILEWRIGHT_ARCH=arch[:5], TILEWRIGHT_DEVICE="interp"):
        make = runpy.run_path(str(path))["flashattn_bwd"]
        program = make(batch=1, heads=2, seq_len=128, dim=64, groups=1).program

    def run(**options: Any) -> list[np.ndarray]:
        rng = np.random.default_rng(1)
        arrays = [
            rng.standard_normal(tuple(parameter["shape"])).astype(parameter["dtype"])
            for parameter in program.params
        ]
        assert interpret(program, arrays, **options) == []
        return arrays

    expected = run()
    for order in (1, 2):
        for got, want in zip(run(schedule=arch, thread_order=order), expected, strict=True):
            np.testing.assert_array_equal(got, want)


ORDERINGS = r"^ *tile\.(barrier_arrive|barrier_wait|async_wait|product_wait|bulk_wait)\b.*\n"
#: The release of the last iterations, which no later one needs.
UNNEEDED = r"barrier_arrive %a_empty\[%\d+\] by_warp(?![\s\S]*barrier_arrive)"


@pytest.mark.parametrize("arch", ARCHS)
def test_an_ordering_that_is_dropped_shows(arch: str) -> None:
    """A missing arrival is a deadlock, a missing wait a race in every order of the teams."""
    kernel = matmul(64, 64, 192, stages=4)  # small copies need three versions under way
    ((_, text),) = kernel.program.compile_gpu(arch, dump_after=["tile-check-schedule"])["dumps"]
    text = re.sub(r"^#loc.*\n", "", text, flags=re.M)
    text = re.sub(r" \S+\.py:\d+:\d+(\)|,)?", lambda found: found[1] or "", text)
    unneeded = re.search(UNNEEDED, text)
    statements = [
        found
        for found in re.finditer(ORDERINGS, text, re.M)
        if not (unneeded and found.start() <= unneeded.start() < found.end())
    ]
    assert len(statements) >= (7 if arch == "sm_90a" else 1)
    for found in statements:
        mutant = core.parse_program(text[: found.start()] + text[found.end() :])
        for order in (0, 1, 2):
            kinds = {
                finding["kind"]
                for finding in interpret(mutant, make_arrays(kernel), thread_order=order)
            }
            expected = {"deadlock"} if found[1] == "barrier_arrive" else {"race", "deadlock"}
            assert kinds & expected, (found[0], order)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedule": "sm_1"}, "unknown architecture 'sm_1'; known are"),
        ({"schedule": "sm_80", "bounds": True}, "'bounds' and 'schedule' exclude each other"),
    ],
)
def test_options_that_mean_nothing(options: dict, message: str) -> None:
    kernel = matmul(64, 64, 32)
    with pytest.raises(Exception, match=message):
        interpret(kernel.program, make_arrays(kernel), **options)
