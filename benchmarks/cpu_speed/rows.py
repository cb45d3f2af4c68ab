"""Kernels that only move memory: a sum, a norm, softmax and row sums of a 4096 x 4096 matrix.

The bar is the speed of a plain copy for the bytes that must be moved, or torch's, whichever is
higher.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tilewright
import tilewright.language as T
from figures import Figure

from cpu_speed.measure import ALL_THREADS, torch
from cpu_speed.report import rate_figures

SIZE = 4096
TARGET = 0.9
BLOCK = 1  # rows of a block
EPS = 1e-6


def build_add():
    @T.prim_func
    def add(
        X: T.Tensor((SIZE, SIZE), "float32"),
        Y: T.Tensor((SIZE, SIZE), "float32"),
        Z: T.Tensor((SIZE, SIZE), "float32"),
    ):
        with T.Kernel(SIZE // BLOCK, threads=128) as bx:
            for i, j in T.Parallel(BLOCK, SIZE):
                Z[bx * BLOCK + i, j] = X[bx * BLOCK + i, j] + Y[bx * BLOCK + i, j]

    return add


def build_rms_norm():
    @T.prim_func
    def rms_norm(
        X: T.Tensor((SIZE, SIZE), "float32"),
        W: T.Tensor((SIZE,), "float32"),
        Z: T.Tensor((SIZE, SIZE), "float32"),
    ):
        with T.Kernel(SIZE // BLOCK, threads=128) as bx:
            x = T.alloc_fragment((BLOCK, SIZE), "float32")
            squares = T.alloc_fragment((BLOCK, SIZE), "float32")
            total = T.alloc_fragment((BLOCK,), "float32")
            T.copy(X[bx * BLOCK, 0], x)
            for i, j in T.Parallel(BLOCK, SIZE):
                squares[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(squares, total, dim=1)
            for i in T.Parallel(BLOCK):
                total[i] = T.rsqrt(total[i] / SIZE + EPS)
            for i, j in T.Parallel(BLOCK, SIZE):
                squares[i, j] = x[i, j] * total[i] * W[j]
            T.copy(squares, Z[bx * BLOCK, 0])

    return rms_norm


def build_softmax():
    @T.prim_func
    def softmax(X: T.Tensor((SIZE, SIZE), "float32"), Z: T.Tensor((SIZE, SIZE), "float32")):
        with T.Kernel(SIZE // BLOCK, threads=128) as bx:
            x = T.alloc_fragment((BLOCK, SIZE), "float32")
            weights = T.alloc_fragment((BLOCK, SIZE), "float32")
            largest = T.alloc_fragment((BLOCK,), "float32")
            total = T.alloc_fragment((BLOCK,), "float32")
            T.copy(X[bx * BLOCK, 0], x)
            T.reduce_max(x, largest, dim=1)
            for i, j in T.Parallel(BLOCK, SIZE):
                weights[i, j] = T.exp(x[i, j] - largest[i])
            T.reduce_sum(weights, total, dim=1)
            for i in T.Parallel(BLOCK):
                total[i] = 1 / total[i]
            for i, j in T.Parallel(BLOCK, SIZE):
                weights[i, j] *= total[i]
            T.copy(weights, Z[bx * BLOCK, 0])

    return softmax


def build_row_sum():
    @T.prim_func
    def row_sum(X: T.Tensor((SIZE, SIZE), "float32"), Z: T.Tensor((SIZE,), "float32")):
        with T.Kernel(SIZE // BLOCK, threads=128) as bx:
            x = T.alloc_shared((BLOCK, SIZE), "float32")
            total = T.alloc_fragment((BLOCK,), "float32")
            T.copy(X[bx * BLOCK, 0], x)
            T.reduce_sum(x, total, dim=1)
            T.copy(total, Z[bx * BLOCK])

    return row_sum


class CopyPeer:
    """A plain copy of as many bytes as a kernel moves, on as many threads as Tilewright has."""

    def __init__(self, moved: int):
        self.source = np.ones(moved // 8, np.float32)
        self.dest = np.zeros_like(self.source)
        self.pool = ThreadPoolExecutor(ALL_THREADS)

    def __call__(self) -> None:
        threads = int(os.environ["TILEWRIGHT_THREADS"])
        if threads == 1:
            return np.copyto(self.dest, self.source)
        dests, sources = (np.array_split(a, threads) for a in (self.dest, self.source))
        list(self.pool.map(np.copyto, dests, sources))


def figures() -> Iterator[Figure]:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((SIZE, SIZE)).astype(np.float32) for _ in range(2))
    w = rng.standard_normal(SIZE).astype(np.float32)
    z, sums = np.zeros_like(x), np.zeros(SIZE, np.float32)
    squares = np.mean(x.astype(np.float64) ** 2, 1, keepdims=True)
    weights = np.exp(x - x.max(1, keepdims=True))
    matrix = x.nbytes
    # Name, program, arguments, exact result, bytes that must be moved.
    cases = [
        ("add", build_add, (x, y, z), x + y, 3 * matrix),
        ("RMS norm", build_rms_norm, (x, w, z), x / np.sqrt(squares + EPS) * w, 2 * matrix),
        ("softmax", build_softmax, (x, z), weights / weights.sum(1, keepdims=True), 2 * matrix),
        ("row sum", build_row_sum, (x, sums), x.sum(1, dtype=np.float64), matrix),
    ]
    peers = {}
    if torch:
        tx, ty, tw = (torch.from_numpy(a) for a in (x, y, w))
        tz, tsums = torch.zeros_like(tx), torch.zeros(SIZE)
        peers = {
            "add": lambda: torch.add(tx, ty, out=tz),
            "RMS norm": lambda: torch.nn.functional.rms_norm(tx, (SIZE,), tw, EPS),
            "softmax": lambda: torch.softmax(tx, 1, out=tz),
            "row sum": lambda: torch.sum(tx, 1, out=tsums),
        }
    for name, build, arguments, exact, moved in cases:
        kernel = tilewright.compile(build(), target="cpu")
        kernel(*arguments)
        assert np.allclose(arguments[-1], exact, rtol=1e-4, atol=1e-3), name
        own = {"torch": peers[name]} if name in peers else {}
        yield from rate_figures(
            f"{name} {SIZE}",
            lambda k=kernel, a=arguments: k(*a),
            {"a copy": CopyPeer(moved), **own},
            1e-9 * moved,
            "GB/s",
            TARGET,
        )
