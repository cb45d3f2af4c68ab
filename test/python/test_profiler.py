"""`get_profiler` and `do_bench`: inputs, comparisons, times."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import tilewright
import tilewright.language as T
from tilewright.profiler import do_bench
from tilewright.supply import KernelParam, TensorSupplyType, get_tensor_supply


@tilewright.jit(out_idx=[-1])
def scale(n, factor):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as block:
            for i in T.Parallel(32):
                B[block * 32 + i] = A[block * 32 + i] * factor

    return main


def parameter(dtype: str, *shape: int) -> KernelParam:
    return KernelParam("A", T.dtype(dtype), shape, True)


def test_supply_types() -> None:
    tilewright.testing.set_random_seed(0)
    wanted = {
        TensorSupplyType.Integer: lambda x: set(np.unique(x)) == {-2, -1, 0, 1, 2},
        TensorSupplyType.Uniform: lambda x: -1 <= x.min() < -0.9 and 0.9 < x.max() <= 1,
        TensorSupplyType.Normal: lambda x: abs(x.mean() + 1) < 0.2,
        TensorSupplyType.Randn: lambda x: abs(x.mean()) < 0.2 and x.std() > 0.8,
        TensorSupplyType.Zero: lambda x: (x == 0).all(),
        TensorSupplyType.One: lambda x: (x == 1).all(),
        TensorSupplyType.Auto: lambda x: abs(x).max() <= 1 and len(np.unique(x)) > 900,
    }
    for kind, is_right in wanted.items():
        array = get_tensor_supply(kind)(parameter("float32", 20, 50))
        assert array.dtype == np.float32
        assert array.shape == (20, 50)
        assert is_right(array), kind
    auto = get_tensor_supply(TensorSupplyType.Auto)
    assert set(np.unique(auto(parameter("uint8", 100)))) == {0, 1, 2}
    assert set(np.unique(auto(parameter("int32", 100)))) == {-2, -1, 0, 1, 2}
    assert set(np.unique(auto(parameter("bool", 100)))) == {False, True}


def test_generated_inputs_are_repeatable() -> None:
    profiler = scale(100, 2).get_profiler()
    results = []
    for _ in range(2):
        tilewright.testing.set_random_seed(7)
        results.append(profiler.run_once())
    np.testing.assert_array_equal(*results)


def test_assert_allclose_sees_a_difference() -> None:
    profiler = scale(1000, 2).get_profiler(tensor_supply_type=TensorSupplyType.One)
    profiler.assert_allclose(lambda a: a * 2)
    with pytest.raises(AssertionError, match=r"1000 of 1000 elements differ, 10 may.*got 2, expec"):
        profiler.assert_allclose(lambda a: a * 3)

    def with_some_wrong(count):
        def reference(a):
            result = a * 2
            result[:count] += 1
            return result

        return reference

    profiler.assert_allclose(with_some_wrong(10))
    with pytest.raises(AssertionError, match="11 of 1000"):
        profiler.assert_allclose(with_some_wrong(11))
    profiler.assert_allclose(with_some_wrong(11), max_mismatched_ratio=0.02)
    profiler.assert_allclose(lambda a: a * 2.01, rtol=0.01)
    with pytest.raises(AssertionError):
        profiler.assert_allclose(lambda a: a * 2.01, rtol=0.0, atol=0.001)


def test_assert_allclose_compares_what_is_written_in_place() -> None:
    @T.prim_func
    def main(A: T.Tensor((8,), "float32")):
        with T.Kernel(1):
            for i in T.serial(8):
                A[i] = A[i] + 1.0

    profiler = tilewright.compile(main).get_profiler()

    def add(amount):
        def reference(a):
            a += amount

        return reference

    profiler.assert_allclose(add(1))
    with pytest.raises(AssertionError, match="8 of 8 elements"):
        profiler.assert_allclose(add(2))
    with pytest.raises(AssertionError, match="returns 0 tensors, the reference 1"):
        profiler.assert_allclose(lambda a: a + 1)


def test_assert_allclose_compares_results_not_workspaces() -> None:
    """A kernel may write to a tensor that the reference does not use; None stands for any value."""

    @T.prim_func
    def main(
        A: T.Tensor((8,), "float32"), W: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")
    ):
        with T.Kernel(1):
            for i in T.serial(8):
                W[i] = A[i] + 1.0
                B[i] = W[i] * 2.0

    one = tilewright.compile(main, out_idx=[2]).get_profiler()
    one.assert_allclose(lambda a, w: a * 2 + 2)
    with pytest.raises(AssertionError, match="8 of 8 elements"):
        one.assert_allclose(lambda a, w: a * 2 + 5)
    both = tilewright.compile(main, out_idx=[1, 2]).get_profiler()
    both.assert_allclose(lambda a: (None, a * 2 + 2))


def test_manual_check_and_consistency() -> None:
    profiler = scale(64, 2).get_profiler()
    seen = []
    profiler.manual_assert_close(lambda a: a, manual_check_prog=lambda *both: seen.append(both))
    [(ours, theirs)] = seen
    np.testing.assert_array_equal(ours[0], theirs[0] * 2)
    profiler.assert_consistent(repeat=3)


class Work:
    """A function whose calls take the given milliseconds, on a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *durations: float) -> None:
        self.now = 0.0
        self.durations = itertools.cycle(durations)
        clock = SimpleNamespace(perf_counter=lambda: self.now)
        monkeypatch.setattr(tilewright.profiler, "time", clock)

    def __call__(self) -> None:
        self.now += next(self.durations) / 1e3


def test_do_bench_takes_the_time_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"mean": 4, "median": 3, "min": 1, "max": 10}
    for mode, milliseconds in wanted.items():
        # Two calls come first: one to warm up, one to estimate.
        work = Work(monkeypatch, 50, 20, 1, 2, 3, 4, 10)
        found = do_bench(work, _n_warmup=7, _n_repeat=5, return_mode=mode)
        assert found == pytest.approx(milliseconds), mode
    work = Work(monkeypatch, 50, 20, 1, 2, 3, 4, 10)
    found = do_bench(work, _n_warmup=7, _n_repeat=5, quantiles=[0.0, 0.5, 0.875, 1.0])
    assert found == pytest.approx([1, 3, 7, 10])
    assert do_bench(Work(monkeypatch, 5), quantiles=[0.5]) == pytest.approx(5)


def test_do_bench_runs_about_as_long_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch, 4)
    do_bench(work, warmup=40, rep=200)
    assert work.now == pytest.approx((1 + 3 + 10 + 50) * 4e-3, rel=0.1)


def test_do_bench_refuses_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tilewright.TilewrightError, match="unknown return_mode 'mode'"):
        tilewright.compile(scale.get_tir(8, 1)).get_profiler().do_bench(return_mode="mode")
    work = Work(monkeypatch, 4)
    with pytest.raises(TimeoutError):
        do_bench(work, deadline=0.001)


def test_do_bench_counts_calls() -> None:
    calls = []
    do_bench(lambda: calls.append(1), _n_warmup=3, _n_repeat=10)
    assert len(calls) == 1 + 1 + 3 + 10


def test_profiler_times_the_kernel_and_another_function() -> None:
    profiler = scale(64, 2).get_profiler()
    a = np.ones(64, np.float32)
    assert profiler.do_bench(input_tensors=[a], warmup=1, rep=2) > 0
    seen = []
    profiler.do_bench(lambda x: seen.append(x), input_tensors=[a], n_warmup=1, n_repeat=1)
    assert all(x is a for x in seen)


def test_run_time_sizes_are_given_by_name() -> None:
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n, 2 * n), "float32")):
        with T.Kernel(1):
            for i in T.serial(n):
                A[i, 0] = 1.0

    profiler = tilewright.compile(main).get_profiler()
    [array] = profiler._get_inputs(dynamic_symbolic_constraints={"n": 5})
    assert array.shape == (5, 10)
    assert profiler.do_bench(dynamic_symbolic_constraints={"n": 5}, warmup=0, rep=1) > 0
    with pytest.raises(tilewright.TilewrightError, match="'A': its extent 'n' is known only at ru"):
        profiler.do_bench()


def test_numbers_are_not_generated() -> None:
    @T.prim_func
    def main(A: T.Tensor((4,), "float32"), n: T.int32):
        with T.Kernel(1):
            A[0] = n

    with pytest.raises(tilewright.TilewrightError, match="'n' is a number, which cannot be gener"):
        tilewright.compile(main).get_profiler().run_once()


def test_a_virtual_gpu_has_predicted_times() -> None:
    kernel = tilewright.compile(scale(64, 2).prim_func, out_idx=[-1], device="vgpu:sm_80")
    calls = []
    with pytest.warns(
        tilewright.kernel.TilewrightWarning, match="prediction .* for A100 SXM 40 GB"
    ):
        time = do_bench(lambda: calls.append(kernel(np.ones(64, np.float32))))
    assert len(calls) == 1, "the simulation runs once"
    assert 0.001 < time < 0.1
    assert str(time).endswith("(predicted for A100 SXM 40 GB)")
    assert time.prediction.launches[0].microseconds == pytest.approx(1000 * time)
    with pytest.warns(tilewright.kernel.TilewrightWarning, match="not a measurement"):
        assert kernel.get_profiler().do_bench() == pytest.approx(time, rel=0.2)
    with pytest.warns(tilewright.kernel.TilewrightWarning, match="not a measurement"):
        assert len(kernel.get_profiler().do_bench(quantiles=[0.2, 0.8])) == 2


def test_the_profiler_of_a_virtual_gpu_runs_single_blocks() -> None:
    """A size that would take minutes to simulate whole."""

    @T.prim_func
    def main(A: T.Tensor((1 << 24,), "float32"), B: T.Tensor((1 << 24,), "float32")):
        with T.Kernel(1 << 14, threads=128) as bx:
            for i in T.Parallel(1024):
                B[bx * 1024 + i] = A[bx * 1024 + i] + 1.0

    kernel = tilewright.compile(main, device="vgpu:sm_80")
    with pytest.warns(tilewright.kernel.TilewrightWarning, match="not a measurement"):
        time = kernel.get_profiler().do_bench()
    bytes_moved = 2 * 4 * (1 << 24)
    assert time == pytest.approx(bytes_moved / 1555e6, rel=0.25)  # an A100's bandwidth


def test_calls_of_several_kernels_add_up() -> None:
    kernel = tilewright.compile(scale(64, 2).prim_func, out_idx=[-1], device="vgpu:sm_80")
    a = np.ones(64, np.float32)
    with pytest.warns(tilewright.kernel.TilewrightWarning):
        one, two = do_bench(lambda: kernel(a)), do_bench(lambda: kernel(kernel(a)))
    assert two == pytest.approx(2 * one)
