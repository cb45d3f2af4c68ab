"""What TileLang 0.1.15 accepts, we accept: names, order and defaults of the arguments of its public
functions, and what those mean that change a result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright import profiler
from tilewright.autotuner import AutoTuner
from tilewright.autotuner.trials import Bench, ProfileArgs

PROFILE = ["warmup=25", "rep=100", "timeout", "supply_type", "ref_prog=None", "supply_prog=None",
           "rtol=0.01", "atol=0.01", "max_mismatched_ratio=0.01", "skip_check=False",
           "manual_check_prog=None", "cache_input_tensors=False"]  # fmt: skip
COMPILE = ["out_idx=None", "execution_backend=None", "target=None", "target_host=None",
           "verbose=None", "pass_configs=None", "compile_flags=None"]  # fmt: skip
EARLY_STOP = ["early_stop=False", "early_stop_factor=2.0"]

#: Of each function its arguments in TileLang's order; `name=default` where the default is the same.
SIGNATURES: list[tuple[Callable[..., Any], list[str]]] = [
    (tilewright.compile, ["func", *COMPILE]),
    (tilewright.par_compile, ["funcs", *COMPILE, "num_workers=None", "ignore_error=False"]),
    (tilewright.jit, ["func=None", "out_idx=None", "target=None", "target_host=None",
                      "execution_backend=None", "verbose=None", "pass_configs=None",
                      "debug_root_path=None", "compile_flags=None"]),
    (tilewright.autotune, ["func=None", "configs", *PROFILE, "do_not_specialize=None",
                           *EARLY_STOP]),
    (ProfileArgs, [*PROFILE, "backend='event'"]),
    (AutoTuner.from_kernel, ["kernel", "configs"]),
    (AutoTuner.run, ["self", "warmup", "rep", "timeout", "use_pipeline=False",
                     "enable_grouped_compile=False", "group_compile_size=2",
                     "benchmark_devices=None", "benchmark_multi_gpu=False", "early_stop",
                     "early_stop_factor"]),
    (profiler.do_bench, ["fn", "warmup=25", "rep=100", "_n_warmup=0", "_n_repeat=0",
                         "quantiles=None", "fast_flush=True", "backend='event'",
                         "return_mode='mean'", "device=None", "cache_size=256",
                         "early_stop_baseline=None"]),
    (profiler.Profiler.do_bench, ["self", "func=None", "warmup=25", "rep=100", "n_warmup=0",
                                  "n_repeat=0", "input_tensors=None", "backend='event'",
                                  "quantiles=None", "return_mode='mean'",
                                  "dynamic_symbolic_constraints=None", "device=None",
                                  "early_stop_baseline=None"]),
    (profiler.Profiler.assert_allclose, ["self", "reference_program", "input_tensors=None",
                                         "atol=0.01", "rtol=0.01", "max_mismatched_ratio=0.01"]),
    (profiler.Profiler.manual_assert_close, ["self", "reference_program", "input_tensors=None",
                                             "manual_check_prog=None"]),
    (profiler.Profiler.assert_consistent, ["self", "repeat=10"]),
    (profiler.Profiler.run_once, ["self", "func=None"]),
    (tilewright.JITKernel.get_profiler, ["self", "tensor_supply_type"]),
    (tilewright.JITKernel.get_kernel_source, ["self", "kernel_only=True"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "expected"), SIGNATURES, ids=[f.__qualname__ for f, _ in SIGNATURES]
)
def test_arguments_are_tilelangs(function: Callable[..., Any], expected: list[str]) -> None:
    ours = list(inspect.signature(function).parameters.values())
    for position, text in enumerate(expected):
        name, _, default = text.partition("=")
        assert ours[position].name == name, f"argument {position} of {function.__qualname__}"
        if default:
            assert repr(ours[position].default) == default, name
    # What is ours comes behind and need not be given.
    assert all(p.default is not p.empty for p in ours[len(expected) :])


@tilewright.jit(out_idx=[-1], device="cpu")
def scale(n, factor=2):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                B[bx * 32 + i] = A[bx * 32 + i] * factor

    return main


def test_kernels_are_compiled_in_parallel() -> None:
    a = np.arange(40, dtype=np.float32)
    kernels = scale.par_compile([{"n": 40}, (40, 3)], num_workers=2)
    for kernel, factor in zip(kernels, (2, 3), strict=True):
        np.testing.assert_array_equal(kernel(a), factor * a)


def test_a_function_that_does_not_compile_is_none_where_errors_are_ignored() -> None:
    @T.prim_func
    def too_large(A: T.Tensor((4,), "float32")):
        with T.Kernel(1, threads=32):
            tile = T.alloc_shared((3, 1 << 13, 1 << 13), "float64")
            other = T.alloc_shared((3, 1 << 13, 1 << 13), "float64")
            third = T.alloc_shared((3, 1 << 13, 1 << 13), "float64")
            for each in (tile, other, third):
                T.clear(each)
            A[0] = tile[0, 0, 0] + other[0, 0, 0] + third[0, 0, 0]

    good = scale.get_tir(8)
    with pytest.raises(tilewright.TilewrightError, match="bytes"):
        tilewright.par_compile([good, too_large], device="cpu")
    with pytest.warns(UserWarning, match="bytes"):
        found = tilewright.par_compile([good, too_large], ignore_error=True, device="cpu")
    assert found[0] is not None
    assert found[1] is None


def test_a_slow_call_is_timed_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000_000, 5))  # each call takes 5 s
    monkeypatch.setattr(profiler.time, "perf_counter", lambda: next(clock))
    calls: list[int] = []
    assert profiler.do_bench(lambda: calls.append(1), early_stop_baseline=4000.0) == 5000.0
    assert len(calls) == 4
    slow = profiler.do_bench(
        lambda: calls.append(1), quantiles=[0.2, 0.8], early_stop_baseline=4000.0
    )
    assert slow == [5000.0, 5000.0]
    calls.clear()
    profiler.do_bench(lambda: calls.append(1), early_stop_baseline=6000.0, _n_repeat=20)
    assert len(calls) > 20


def test_early_stop_compares_with_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    baselines: list[float | None] = []
    latencies = iter([3.0, 9.0, 2.0, 2.5])

    def bench(self, *args, early_stop_baseline=None, **kwargs):
        baselines.append(early_stop_baseline)
        return next(latencies)

    monkeypatch.setattr(profiler.Profiler, "do_bench", bench)
    bench_all = Bench(ProfileArgs(early_stop=True, early_stop_factor=1.5))
    for _ in range(4):
        bench_all.measure(scale(8))
    assert baselines == [None, 4.5, 4.5, 3.0]


def test_a_factor_that_would_stop_the_best_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    tuner = AutoTuner(scale, [{"factor": 3}]).set_kernel_parameters((8,), {})
    with pytest.raises(tilewright.TilewrightError, match=r"at least 1, got 0\.5"):
        tuner.run(early_stop=True, early_stop_factor=0.5)
    assert tuner.run(warmup=1, rep=1, early_stop=True).config == {"factor": 3}
