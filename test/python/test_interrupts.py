"""Ctrl-C ends a launch wherever it runs, also inside one long statement."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def interrupted_after(seconds: float, run: Callable[[], object]) -> float:
    """How long `run` takes until the signal that comes after `seconds` ends it."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run()
    return time.perf_counter() - start


@pytest.mark.parametrize("device", ["interp", "cpu", "vgpu:sm_80"])
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_loop_without_end(device: str, blocks: int) -> None:
    @T.prim_func
    def main(A: T.Tensor((1,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(blocks, threads=32):
            while A[0] == 0:
                for i in T.Parallel(8):
                    B[i] = 7

    kernel = tilewright.compile(main, device=device)
    a, b = np.zeros(1, np.int32), np.zeros(8, np.int32)
    assert interrupted_after(0.5, lambda: kernel(a, b)) < 30
    kernel(np.ones(1, np.int32), b)  # the next call is as any other


@pytest.mark.parametrize("shape", ["constant", "run-time", "two dimensions"])
def test_one_long_parallel_loop_on_the_cpu(shape: str) -> None:
    @T.prim_func
    def constant(B: T.Tensor((8,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(1 << 44):
                B[i % 8] = 7

    @T.prim_func
    def run_time(B: T.Tensor((8,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i % 8] = 7

    @T.prim_func
    def two_dimensions(B: T.Tensor((8,), "int32"), n: T.int64):
        with T.Kernel(1, threads=32):
            for i, j in T.Parallel(n, n):
                B[(i + j) % 8] = 7

    main = {"constant": constant, "run-time": run_time}.get(shape, two_dimensions)
    kernel = tilewright.compile(main, device="cpu")
    b = np.zeros(8, np.int32)
    long = 1 << (22 if shape == "two dimensions" else 44)
    assert interrupted_after(0.5, lambda: kernel(b, long)) < 30
    assert b.tolist() == [7] * 8
    if shape != "constant":
        b[:] = 0
        kernel(b, 9)  # a short one runs to its end
        assert b.tolist() == [7] * 8
