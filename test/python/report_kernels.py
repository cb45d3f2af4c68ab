"""Kernels that the tests of reports look at, by name; each small enough to run in a second."""

from __future__ import annotations

import os
import runpy
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import tilewright
import tilewright.language as T

ROOT = Path(__file__).resolve().parents[2]


def make_matmul(m: int, n: int, k: int, stages: int, device: str) -> Any:
    @T.prim_func
    def matmul(
        A: T.Tensor((m, k), "float16"),
        B: T.Tensor((k, n), "float16"),
        C: T.Tensor((m, n), "float16"),
    ):
        with T.Kernel(T.ceildiv(n, 128), T.ceildiv(m, 128), threads=128) as (bx, by):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((64, 128), "float16")
            c = T.alloc_fragment((128, 128), "float32")
            out = T.alloc_shared((128, 128), "float16")
            T.clear(c)
            for step in T.Pipelined(T.ceildiv(k, 64), num_stages=stages):
                T.copy(A[by * 128, step * 64], a)
                T.copy(B[step * 64, bx * 128], b)
                T.gemm(a, b, c)
            T.copy(c, out)
            T.copy(out, C[by * 128, bx * 128])

    return tilewright.compile(matmul, out_idx=[2], device=device)


def make_softmax(device: str) -> Any:
    @T.prim_func
    def softmax(X: T.Tensor((64, 256), "float32"), Y: T.Tensor((64, 256), "float32")):
        with T.Kernel(16, threads=128) as bx:
            x = T.alloc_fragment((4, 256), "float32")
            most = T.alloc_fragment((4,), "float32")
            total = T.alloc_fragment((4,), "float32")
            T.copy(X[bx * 4, 0], x)
            T.reduce_max(x, most, dim=1)
            for i, j in T.Parallel(4, 256):
                x[i, j] = T.exp(x[i, j] - most[i])
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(4, 256):
                Y[bx * 4 + i, j] = x[i, j] / total[i]

    return tilewright.compile(softmax, out_idx=[1], device=device)


def make_seed(device: str) -> Any:
    """The seed's backward pass at the size of `make run`."""
    from tilewright.compat import imports

    imports.install()
    script = runpy.run_path(str(ROOT / "examples/seed/flash_attention_backward.py"))
    with mock.patch.dict(os.environ, {"TILEWRIGHT_DEVICE": device}):
        return script["flashattn_bwd"](batch=1, heads=4, seq_len=128, dim=64, groups=2)


@cache
def kernel(name: str) -> Any:
    """A kernel by name."""
    if name == "seed":
        return make_seed("vgpu:sm_80")
    if name == "softmax":
        return make_softmax("vgpu:sm_80")
    device = {"matmul": "vgpu:sm_80", "hopper": "vgpu:sm_90a"}[name]
    return make_matmul(256, 256, 256, 3, device)


@cache
def report(name: str) -> dict[str, Any]:
    """Its report, made once."""
    return kernel(name).report_data()
