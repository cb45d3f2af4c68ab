"""One function compiled on several threads at once, in several forms."""

from __future__ import annotations

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
