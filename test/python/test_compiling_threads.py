"""One function compiled on several threads at once, in several forms."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tilewright
import tilewright.language as T

FAST_MATH = tilewright.PassConfigKey.TL_ENABLE_FAST_MATH


@pytest.mark.parametrize("device", ["cpu", "interp", "vgpu:sm_80"])
def test_forms_of_one_function_compile_at_once(device: str, monkeypatch) -> None:
    """The copy with fast math shared its MLIR context, which is for one thread."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")

    def build():
        @T.prim_func
        def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(64):
                    B[i] = A[i] / 2 + 1

        return main

    a = np.arange(64, dtype=np.float32)

    def compile_and_run(function, fast: bool) -> np.ndarray:
        kernel = tilewright.compile(function, device=device, pass_configs={FAST_MATH: fast})
        b = np.zeros_like(a)
        kernel(a, b)
        return b

    with ThreadPoolExecutor(4) as pool:
        for _ in range(6):
            function = build()
            tasks = [pool.submit(compile_and_run, function, n % 2 == 0) for n in range(4)]
            for task in tasks:
                np.testing.assert_array_equal(task.result(), a / 2 + 1)


def make_product(n: int):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
            for i in T.Parallel(64):
                B[bx * 64 + i] = T.exp(A[bx * 64 + i]) * n

    return main


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of os.fork beside threads
def test_a_process_forks_while_another_thread_compiles(monkeypatch) -> None:
    """The child inherited locks of the compiler that nobody would give back."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", "0")
    functions = [make_product(100 + n) for n in range(200)]
    current = functions[0]
    is_over = threading.Event()
    # Python's own locks of modules that are being imported stay taken in a child.
    tilewright.compile(current, device="cpu")

    def compile_all() -> None:
        nonlocal current
        for function in functions:
            current = function
            tilewright.compile(function, device="cpu")
            if is_over.is_set():
                return

    thread = threading.Thread(target=compile_all)
    thread.start()
    statuses = []
    try:
        for n in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # instead of waiting for ever
                for function in (make_product(1000 + n), current):
                    kernel = tilewright.compile(function, device="cpu")
                    extent = kernel.params[0]["shape"][0]
                    a, b = np.zeros(extent, np.float32), np.zeros(extent, np.float32)
                    kernel(a, b)
                    if (b != extent).any():
                        os._exit(3)
                os._exit(0)
            statuses.append(os.waitpid(child, 0)[1])
    finally:
        is_over.set()
        thread.join()
    assert statuses == [0] * 10
