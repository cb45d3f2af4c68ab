"""Tuning: candidates, the choice, the cache, executors."""

from __future__ import annotations

import pickle
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright._core import core
from tilewright.autotuner import AutoTuner, set_autotune_inputs

CONFIGS = [{"block": 8}, {"block": 64}, {"block": 16, "repeat": 400}]


@tilewright.autotune(configs=CONFIGS, warmup=1, rep=3)
@tilewright.jit(out_idx=[-1])
def scale(n, factor=2, block=32, repeat=1):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, block), threads=32) as bx:
            for _ in T.serial(repeat):
                for i in T.Parallel(block):
                    B[bx * block + i] = A[bx * block + i] * factor

    return main


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    scale._found.clear()


def test_the_fastest_candidate_is_chosen(capsys: pytest.CaptureFixture) -> None:
    kernel = scale(5000)
    a = np.arange(5000, dtype=np.float32)
    np.testing.assert_array_equal(kernel(a), 2 * a)
    assert kernel.config in CONFIGS[:2]
    assert kernel.latency > 0
    table = capsys.readouterr().err
    assert "'scale' on cpu" in table
    assert table.count("│") > 12
    assert "fastest" in table
    assert scale(5000) is kernel
    assert capsys.readouterr().err == ""


def make_gemm(m: int, block: int = 128, stages: int = 3) -> Any:
    @T.prim_func
    def gemm(
        A: T.Tensor((m, m), "float16"),
        B: T.Tensor((m, m), "float16"),
        C: T.Tensor((m, m), "float16"),
    ):
        with T.Kernel(m // block, m // 128, threads=256 if block > 64 else 128) as (bx, by):
            a = T.alloc_shared((128, 64), "float16")
            b = T.alloc_shared((block, 64), "float16")
            c = T.alloc_fragment((128, block), "float32")
            T.clear(c)
            for k in T.Pipelined(m // 64, num_stages=stages):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[bx * block, k * 64], b)
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 128, bx * block])

    return gemm


def test_a_virtual_gpu_ranks_by_prediction(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Configurations for an H100 that is not there: wide tiles and stages win, as they do on one.
    Nothing runs whole, and nothing is kept on disk."""
    monkeypatch.setenv("TILEWRIGHT_DEVICE", "vgpu:sm_90a")
    configs = [{"block": -1}, {"block": 64}, {"block": 256, "stages": 1}, {"block": 256}]
    tuner = AutoTuner.from_kernel(kernel=make_gemm, configs=configs).set_compile_args(out_idx=[-1])
    for _ in range(2):
        result = tuner.set_kernel_parameters((2048,), {}).run(warmup=1, rep=2)
        assert result.config == {"block": 256}
        assert not result.is_cached
        times = [outcome.latency for outcome in result.outcomes]
        assert times[0] is None
        assert min(times[1:3]) > 1.2 * times[3]
        assert times[3] == result.latency == result.kernel.latency
        assert result.latency.prediction.machine == "H100 SXM"
        table = capsys.readouterr().err
        assert "ms, predicted" in table
        assert "fastest, limited by" in table
        assert "predictions of the cost model for H100 SXM, not measurements" in table


def test_a_candidate_may_say_how_it_is_compiled() -> None:
    """`pass_configs` in a configuration are no argument of the function."""
    fast = {"tl.enable_fast_math": True}
    configs = [{"block": 16, "pass_configs": fast}, {"block": 16}]
    tuner = AutoTuner.from_kernel(kernel=scale.jit_impl, configs=configs).set_kernel_parameters(
        (256,), {}
    )
    result = tuner.run(warmup=1, rep=2)
    assert [outcome.config for outcome in result.outcomes] == configs
    assert all(outcome.latency for outcome in result.outcomes)
    assert result.kernel.pass_configs == (fast if "pass_configs" in result.config else {})
    with pytest.raises(tilewright.TilewrightError, match="unknown pass config"):
        AutoTuner.from_kernel(
            kernel=scale.jit_impl, configs=[{"block": 8, "pass_configs": {"tl.enable_fast": True}}]
        ).set_kernel_parameters((256,), {}).run()


def test_arguments_given_by_hand_are_not_tuned(capsys: pytest.CaptureFixture) -> None:
    kernel = scale(100, block=16)
    assert kernel.config is None
    assert capsys.readouterr().err == ""


def test_arguments_that_are_not_specialized_are_tuned_though_given() -> None:
    """Libraries pass them so that the signature can be bound; configurations replace them."""
    tuned = tilewright.autotune(configs=CONFIGS[:2], warmup=1, rep=2, do_not_specialize=["block"])(
        scale.jit_impl
    )
    kernel = tuned(512, block=128)
    assert kernel.config in CONFIGS[:2]
    assert tuned(512, block=4) is kernel


def test_the_choice_is_found_in_the_cache(capsys: pytest.CaptureFixture) -> None:
    first = scale(300)
    hits = core.cache_status()["hits"]
    scale._found.clear()
    capsys.readouterr()
    again = scale(300)
    said = capsys.readouterr().err
    assert said.startswith("'scale' on cpu: block=")
    assert said.endswith(" ms, cached: the fastest of 3 in an earlier run\n")
    assert again is not first
    assert (again.config, again.latency) == (first.config, first.latency)
    assert core.cache_status()["hits"] > hits
    stores = core.cache_status()["stores"]
    scale(300, 3)  # another program is tuned anew
    assert core.cache_status()["stores"] == stores + 1 + len(CONFIGS)


def test_candidates_that_fail_are_left_out() -> None:
    def reference(a):
        return a * 2

    def make(kind):
        @T.prim_func
        def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(64):
                    B[i] = A[i] * (3 if kind == "wrong" else 2)
                if kind == "endless":
                    while A[0] == A[0]:
                        B[0] = A[0] * 2

        if kind == "broken":
            raise ValueError("no such kind")
        return main

    kinds = ["wrong", "broken", "right", "endless"]
    tuner = AutoTuner.from_kernel(kernel=make, configs=[{"kind": kind} for kind in kinds])
    tuner.set_compile_args(out_idx=[-1]).set_profile_args(ref_prog=reference)
    result = tuner.run(warmup=1, rep=2, timeout=3)
    assert result.config == {"kind": "right"}
    assert result.ref_latency > 0
    assert result.kernel.prim_func is result.func
    errors = {o.config["kind"]: o.error for o in result.outcomes}
    assert "of 64 elements differ" in errors["wrong"]
    assert errors["broken"] == "no such kind"
    assert errors["right"] is None
    assert "no result within 3 s" in errors["endless"]

    only_bad = AutoTuner.from_kernel(kernel=make, configs=[{"kind": "broken"}])
    with pytest.raises(tilewright.TilewrightError, match="none of 1 configurations works; no such"):
        only_bad.run()


def test_configurations_are_checked() -> None:
    for configs, message in (
        ([{"blok": 3}], "names 'blok', which is no parameter of 'scale'"),
        ([], "no configurations"),
        ([3], "must be a list of dictionaries"),
    ):
        with pytest.raises(tilewright.TilewrightError, match=message):
            AutoTuner.from_kernel(scale.jit_impl, configs).run()
    with pytest.raises(tilewright.TilewrightError, match="'autotune' decorates a function under"):
        tilewright.autotune(configs=CONFIGS)(lambda: None)


def test_configurations_may_depend_on_the_arguments() -> None:
    seen = []

    def configs(n, **_):
        seen.append(n)
        return [{"block": n}]

    tuned = tilewright.autotune(configs=configs, warmup=0, rep=1)(scale.jit_impl)
    assert tuned(24).config == {"block": 24}
    assert set(seen) == {24}


def test_inputs_given_for_tuning() -> None:
    @T.prim_func
    def main(A: T.Tensor((4,), "float32"), n: T.int32):
        with T.Kernel(1):
            A[0] = n

    tuner = AutoTuner.from_kernel(kernel=lambda unused: main, configs=[{"unused": 1}])
    with pytest.raises(tilewright.TilewrightError, match="'n' is a number"):
        tuner.run()
    a = np.zeros(4, np.float32)
    with set_autotune_inputs(a, 7):
        tuner.run(warmup=0, rep=1)
    assert a[0] == 7


def test_an_eager_kernel_is_tuned_on_its_arguments() -> None:
    fast = {"pass_configs": {"tl.enable_fast_math": True}}
    configs = [{"block": 8, **fast}, {"block": 16, **fast}]

    @tilewright.autotune(configs=configs, warmup=0, rep=1)
    @tilewright.jit
    def add(A, B, block: int = 32):
        N = T.const("N")
        A: T.Tensor[[N], T.float32]
        B: T.Tensor[[N], T.float32]
        C = T.empty((N,), T.float32)
        with T.Kernel(T.ceildiv(N, block), threads=32) as bx:
            for i in T.Parallel(block):
                C[bx * block + i] = A[bx * block + i] + B[bx * block + i]
        return C

    a = np.arange(40, dtype=np.float32)
    np.testing.assert_array_equal(add(a, a), 2 * a)
    assert add.compile(a, a).config in configs
    np.testing.assert_array_equal(add(a, a, block=4), 2 * a)


class PickleExecutor:
    """Runs a task after a round trip through pickle, as a remote pool would."""

    def __init__(self) -> None:
        self.count = 0

    def submit(self, task):
        self.count += 1
        future: Future = Future()
        future.set_result(pickle.loads(pickle.dumps(task))())
        return future


def test_an_executor_for_one_call_or_a_block_of_the_program() -> None:
    executor = PickleExecutor()
    scale(301, executor=executor)
    assert executor.count == len(CONFIGS)
    with tilewright.autotuner.set_autotune_executor(executor):
        scale(302)
        assert executor.count == 2 * len(CONFIGS)
    scale(303)
    assert executor.count == 2 * len(CONFIGS)


def test_any_executor_runs_the_candidates() -> None:
    executor = PickleExecutor()
    tuner = AutoTuner.from_kernel(scale.jit_impl, CONFIGS).set_kernel_parameters((200,), {})
    result = tuner.set_compile_args(out_idx=[-1]).run(warmup=0, rep=1, executor=executor)
    assert executor.count == 3
    assert result.latency > 0
    a = np.ones(200, np.float32)
    np.testing.assert_array_equal(result.kernel(a), 2 * a)


def test_a_process_pool_runs_the_candidates() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as executor:
        tuner = AutoTuner.from_kernel(scale.jit_impl, CONFIGS).set_kernel_parameters((210,), {})
        result = tuner.set_compile_args(out_idx=[-1]).run(warmup=0, rep=1, executor=executor)
    assert [outcome.error for outcome in result.outcomes] == [None] * 3


def test_a_task_that_cannot_be_sent_says_so() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as executor:
        tuner = AutoTuner.from_kernel(scale.jit_impl, [{"block": 8}])
        tuner.set_kernel_parameters((220,), {}).set_compile_args(out_idx=[-1])
        tuner.set_profile_args(ref_prog=lambda a: a)
        with pytest.raises(
            tilewright.TilewrightError, match=r"the task cannot be pickled: .*<lambda>"
        ):
            tuner.run(executor=executor)


class SilentExecutor:
    """Takes tasks, begins them, and is never heard of again."""

    def submit(self, task, *args, **kwargs) -> Future:
        future: Future = Future()
        future.set_running_or_notify_cancel()
        return future


class ClosedExecutor:
    """Takes no tasks."""

    def submit(self, task, *args, **kwargs) -> Future:
        raise RuntimeError("there are no workers")


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (SilentExecutor(), "the executor gave no answer"),
        (ClosedExecutor(), "there are no workers"),
    ],
)
def test_executors_that_do_nothing(executor, message: str, monkeypatch) -> None:
    """They were waited for, and their exceptions went through."""
    monkeypatch.setattr("tilewright.autotuner.tuner.SILENCE", 0.0)
    tuner = AutoTuner.from_kernel(scale.jit_impl, CONFIGS).set_kernel_parameters((256,), {})
    with pytest.raises(tilewright.TilewrightError, match=message):
        tuner.set_compile_args(out_idx=[-1]).run(timeout=0.2, executor=executor)


@pytest.mark.slow
def test_dask_runs_the_candidates() -> None:
    """A real cluster of two worker processes on this machine."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        executor = client.get_executor()
        tuner = AutoTuner.from_kernel(scale.jit_impl, CONFIGS).set_kernel_parameters((230,), {})
        result = tuner.set_compile_args(out_idx=[-1]).run(warmup=0, rep=1, executor=executor)
        assert [outcome.error for outcome in result.outcomes] == [None] * 3
        a = np.ones(231, np.float32)
        np.testing.assert_array_equal(scale(231, executor=executor)(a), 2 * a)
