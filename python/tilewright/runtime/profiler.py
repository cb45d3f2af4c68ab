"""Timing and comparing kernels, with TileLang's names.

    profiler = kernel.get_profiler(tilelang.TensorSupplyType.Normal)
    profiler.assert_allclose(reference)       # the kernel and `reference` on the same inputs
    print(profiler.do_bench())                # milliseconds

Times are wall-clock times of whole calls, until the kernel is done on the device where it runs; all
of TileLang's backends ("event", "cupti", "cudagraph") mean the same, and caches are not flushed
between calls. How long a virtual GPU simulates a kernel says nothing about a GPU: there the times
are those that the cost model predicts (runtime/prediction.py), with a warning that says so.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from tilewright.runtime import kernel as kernel_module
from tilewright.runtime.arguments import is_torch
from tilewright.runtime.device import gpus, synchronize
from tilewright.runtime.kernel import TilewrightWarning, listeners
from tilewright.runtime.supply import TensorSupplyType, get_tensor_supply
from tilewright.support.errors import LanguageError, ReportedNameError, caller_location, reporting
from tilewright.types.kernel_param import KernelParam

__tracebackhide__ = True  # pytest shows the user's frames

_BACKENDS = ("event", "cupti", "cudagraph", "wall", "msprof", "msprof_detail", "cpu")
_MODES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
}


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    _n_warmup: int = 0,
    _n_repeat: int = 0,
    quantiles: Sequence[float] | None = None,
    fast_flush: bool = True,
    backend: str = "event",
    return_mode: str = "mean",
    device: Any = None,
    cache_size: int = 256,
    early_stop_baseline: float | None = None,
    deadline: float | None = None,
) -> Any:
    """How many milliseconds a call of `fn` takes.

    Calls it for about `warmup` milliseconds without counting and for about `rep` counting;
    `_n_warmup` and `_n_repeat` give numbers of calls instead. The result is the mean, or what
    `return_mode` says (min, max, mean, median), or the `quantiles` in a list. A first estimate that
    exceeds `early_stop_baseline` milliseconds is the result. A `deadline` (of
    `time.perf_counter`) that passes is a TimeoutError. `fast_flush`, `cache_size` and `device` are
    about the caches and clocks of a GPU.

    If `fn` runs kernels on a virtual GPU, it is called once, and the result is the sum of the times
    that the model predicts for them, a PredictedTime, with a warning.
    """
    _check_words(backend, return_mode)
    call = partial(_timed, fn, deadline, synchronize if gpus()[0] else None)
    with _virtual_calls() as virtual:
        call()  # compiles, and touches memory for the first time
    if virtual:
        return _predicted(_sum_predictions(virtual), quantiles, stacklevel=3)
    estimate = min(call() for _ in range(1 if _n_repeat else 3))
    if early_stop_baseline is not None and estimate > early_stop_baseline:
        return estimate if quantiles is None else [estimate] * len(quantiles)
    for _ in range(_n_warmup or min(1000, int(warmup / estimate))):
        call()
    repeat = _n_repeat or max(1, min(100_000, int(rep / estimate)))
    times = [call() for _ in range(repeat)]
    if quantiles is None:
        return _MODES[return_mode](times)
    found = [_quantile(sorted(times), q) for q in quantiles]
    return found[0] if len(found) == 1 else found


def _check_words(backend: str, return_mode: str) -> None:
    if backend not in _BACKENDS:
        raise LanguageError(f"unknown backend '{backend}'", hint=f"use {', '.join(_BACKENDS)}")
    if return_mode not in _MODES:
        raise LanguageError(f"unknown return_mode '{return_mode}'", hint=f"use {', '.join(_MODES)}")


PREDICTED = (
    "the time of {} is a prediction of the cost model for {}, not a measurement: a virtual GPU "
    "has no clock"
)


def _predicted(prediction: Any, quantiles: Sequence[float] | None, stacklevel: int) -> Any:
    """The time of a prediction, with a warning that it is one."""
    from tilewright.runtime.prediction import PredictedTime

    text = PREDICTED.format(f"'{prediction.kernel}'", prediction.machine)
    warnings.warn(text, TilewrightWarning, stacklevel=stacklevel + 1)
    time = PredictedTime.of(prediction)
    return time if quantiles is None or len(quantiles) == 1 else [time] * len(quantiles)


def _sum_predictions(calls: Sequence[tuple[Any, list[Any]]]) -> Any:
    """One prediction for all calls."""
    from tilewright.runtime.prediction import Prediction, predict_call
    from tilewright.runtime.verify import _allocate

    found: dict[int, Prediction] = {}
    for kernel, values in calls:
        if id(kernel) not in found:
            found[id(kernel)] = predict_call(kernel, _allocate(kernel, list(values)))
    all_calls = [found[id(kernel)] for kernel, _ in calls]
    if len(all_calls) == 1:
        return all_calls[0]
    return Prediction(
        kernel=", ".join(dict.fromkeys(call.kernel for call in all_calls)),
        arch=all_calls[0].arch,
        machine=", ".join(dict.fromkeys(call.machine for call in all_calls)),
        milliseconds=sum(call.milliseconds for call in all_calls),
        launches=[launch for call in all_calls for launch in call.launches],
    )


@contextmanager
def _virtual_calls() -> Iterator[list[tuple[Any, list[Any]]]]:
    """The kernels that virtual GPUs run in the block, each with the arguments of its first call."""
    found: list[tuple[Any, list[Any]]] = []
    before = kernel_module.first_calls
    calls: dict[int, list[Any]] = {}
    kernel_module.first_calls = calls

    def listen(event: str, kernel: Any) -> None:
        if event == "ran" and kernel.placement.is_virtual:
            found.append((kernel, calls[id(kernel)]))

    listeners.append(listen)
    try:
        yield found
    finally:
        listeners.remove(listen)
        kernel_module.first_calls = before
        if before is not None:
            for key, values in calls.items():
                before.setdefault(key, values)


def _timed(fn: Callable[[], Any], deadline: float | None, wait: Callable[[], Any] | None) -> float:
    start = time.perf_counter()
    fn()
    if wait:
        wait()
    end = time.perf_counter()
    if deadline is not None and end > deadline:
        raise TimeoutError("the time limit of this configuration has passed")
    return 1e3 * (end - start)


def _quantile(ordered: Sequence[float], q: float) -> float:
    """Between the two nearest ranks."""
    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


class Profiler:
    """Makes inputs for a kernel, times it and compares it with other programs."""

    def __init__(
        self, kernel: Any, tensor_supply_type: TensorSupplyType = TensorSupplyType.Auto
    ) -> None:
        self.kernel = kernel
        self.params: list[KernelParam] = kernel.params
        self.result_idx: list[int] = list(kernel.out_idx)
        self.supply_type = tensor_supply_type
        device = kernel.placement.device if kernel.placement.is_cuda else None
        self.supply = get_tensor_supply(tensor_supply_type, device)

    @property
    def func(self) -> Any:
        """The kernel."""
        return self.kernel

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.kernel(*args, **kwargs)

    def _get_params(self, with_output: bool = False) -> list[KernelParam]:
        return [p for n, p in enumerate(self.params) if with_output or n not in self.result_idx]

    def _get_inputs(
        self, with_output: bool = False, dynamic_symbolic_constraints: Mapping | None = None
    ) -> list[Any]:
        """Tensors for the parameters that a call takes."""
        sizes = {
            str(name): int(size) for name, size in (dynamic_symbolic_constraints or {}).items()
        }
        return [self.supply(parameter, sizes) for parameter in self._get_params(with_output)]

    @reporting
    def run_once(self, func: Callable[..., Any] | None = None) -> Any:
        """Calls the kernel, or `func`, on generated inputs."""
        return (func or self.kernel)(*self._get_inputs())

    @reporting
    def do_bench(
        self,
        func: Callable[..., Any] | None = None,
        warmup: float = 25,
        rep: float = 100,
        n_warmup: int = 0,
        n_repeat: int = 0,
        input_tensors: Sequence[Any] | None = None,
        backend: str = "event",
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
        dynamic_symbolic_constraints: Mapping | None = None,
        device: Any = None,
        early_stop_baseline: float | None = None,
        deadline: float | None = None,
    ) -> Any:
        """Milliseconds of a call of the kernel, or of `func`, on the same kind of inputs. On a
        virtual GPU the kernel is not called: the result is what the model predicts, a
        PredictedTime, with a warning."""
        _check_words(backend, return_mode)
        inputs = input_tensors
        if inputs is None:
            inputs = self._get_inputs(dynamic_symbolic_constraints=dynamic_symbolic_constraints)
        if func is None and self.kernel.placement.is_virtual:
            return _predicted(self.kernel.predict(*inputs), quantiles, stacklevel=3)
        return do_bench(
            partial(func or self.kernel, *inputs),
            warmup=warmup,
            rep=rep,
            _n_warmup=n_warmup,
            _n_repeat=n_repeat,
            quantiles=quantiles,
            backend=backend,
            return_mode=return_mode,
            device=device,
            early_stop_baseline=early_stop_baseline,
            deadline=deadline,
        )

    @reporting
    def assert_allclose(
        self,
        reference_program: Callable[..., Any],
        input_tensors: Sequence[Any] | None = None,
        atol: float = 1e-2,
        rtol: float = 1e-2,
        max_mismatched_ratio: float = 0.01,
    ) -> None:
        """Runs the kernel and the reference on equal inputs and compares what they return; where
        they return nothing, the inputs afterwards, where both write. A None of the reference is
        not compared. At most that ratio of elements may differ by more than
        `atol + rtol * |reference|`."""
        inputs = self._get_inputs() if input_tensors is None else list(input_tensors)
        ours, theirs = _copies(inputs), _copies(inputs)
        wanted = _as_list(reference_program(*theirs))
        got = _as_list(self.kernel(*ours))
        if len(got) != len(wanted):
            raise AssertionError(
                f"the kernel returns {len(got)} tensors, the reference {len(wanted)}; what the "
                "kernel returns is named by out_idx"
            )
        if not got:
            got, wanted = ([v for v in side if hasattr(v, "shape")] for side in (ours, theirs))
        for position, (mine, other) in enumerate(zip(got, wanted, strict=True)):
            if other is not None:
                assert_close(mine, other, rtol, atol, max_mismatched_ratio, f"tensor {position}")

    @reporting
    def manual_assert_close(
        self,
        reference_program: Callable[..., Any],
        input_tensors: Sequence[Any] | None = None,
        manual_check_prog: Callable[[list[Any], list[Any]], Any] | None = None,
    ) -> None:
        """Lets `manual_check_prog` compare what the kernel and the reference return."""
        if manual_check_prog is None:
            raise LanguageError("'manual_assert_close' needs manual_check_prog")
        inputs = self._get_inputs() if input_tensors is None else list(input_tensors)
        wanted = _as_list(reference_program(*_copies(inputs)))
        manual_check_prog(_as_list(self.kernel(*inputs)), wanted)

    @reporting
    def assert_consistent(self, repeat: int = 10) -> None:
        """Runs the kernel again and again on equal inputs: results must stay the same bits."""
        inputs = self._get_inputs()
        first = self._results(self.kernel, _copies(inputs))
        for iteration in range(repeat):
            for got, wanted in zip(self._results(self.kernel, _copies(inputs)), first, strict=True):
                assert_close(got, wanted, 0.0, 0.0, 0.0, f"run {iteration + 2}")

    @staticmethod
    def _results(program: Callable[..., Any], inputs: list[Any]) -> list[Any]:
        returned = _as_list(program(*inputs))
        return [value for value in inputs if hasattr(value, "shape")] + returned


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _copies(values: Sequence[Any]) -> list[Any]:
    def copy(value: Any) -> Any:
        if is_torch(value):
            return value.clone()
        return value.copy() if hasattr(value, "__array_interface__") else value

    return [copy(value) for value in values]


def _to_floats(value: Any) -> Any:
    import numpy as np

    if is_torch(value):
        import torch

        return value.detach().cpu().to(torch.float64).numpy()
    return np.asarray(value).astype(np.float64)


def assert_close(
    got: Any, wanted: Any, rtol: float, atol: float, max_mismatched_ratio: float, what: str
) -> None:
    """Raises AssertionError, with the first and the largest difference, if too many differ."""
    import numpy as np

    if tuple(got.shape) != tuple(wanted.shape):
        raise AssertionError(f"{what}: shape {tuple(got.shape)}, expected {tuple(wanted.shape)}")
    left, right = _to_floats(got), _to_floats(wanted)
    wrong = ~np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=True)
    count, allowed = int(wrong.sum()), int(wrong.size * max_mismatched_ratio)
    if count <= allowed:
        return
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    with np.errstate(all="ignore"):
        largest = float(np.nanmax(np.abs(left - right)))
    raise AssertionError(
        f"{what}: {count} of {wrong.size} elements differ, {allowed} may; the first at {first}: "
        f"got {left[first]:.6g}, expected {right[first]:.6g}; largest difference {largest:.6g}"
    )


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ReportedNameError(f"'tilelang.profiler.{name}' is not supported yet", caller_location())
