"""One candidate: is it right, and how fast is it?

`Trial` can be sent to another process or machine: it holds what makes the candidate, not the
compiled code.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pickle import PicklingError
from typing import Any

from tilewright.runtime.device import Placement
from tilewright.runtime.kernel import JITKernel
from tilewright.runtime.prediction import PredictedTime
from tilewright.runtime.supply import TensorSupplyType


@dataclass(frozen=True)
class ProfileArgs:
    """How candidates are checked and timed; the meaning of each is `autotune`'s."""

    warmup: float = 25
    rep: float = 100
    timeout: float = 30
    supply_type: TensorSupplyType = TensorSupplyType.Auto
    ref_prog: Callable[..., Any] | None = None
    supply_prog: Callable[..., Any] | None = None
    rtol: float = 1e-2
    atol: float = 1e-2
    max_mismatched_ratio: float = 0.01
    skip_check: bool = False
    manual_check_prog: Callable[..., Any] | None = None
    cache_input_tensors: bool = False
    backend: str = "event"
    inputs: list[Any] | None = None  # of set_autotune_inputs
    early_stop: bool = False
    early_stop_factor: float = 2.0


@dataclass(frozen=True)
class Outcome:
    """What became of a candidate: milliseconds, or why there are none."""

    config: dict[str, Any]
    latency: float | None = None
    ref_latency: float | None = None
    error: str | None = None


@dataclass
class Bench:
    """Times kernels on the same inputs, one after another."""

    arguments: ProfileArgs
    cached_inputs: list[Any] | None = None
    ref_latency: float | None = None
    best_latency: float | None = None  # so far, with early_stop

    def measure(self, kernel: JITKernel) -> tuple[float, float | None]:
        """Milliseconds of a kernel and of the reference; raises if the kernel is wrong or slow. On
        a virtual GPU they are predicted, and the reference has none. The kernel then runs whole
        only if it is checked: a prediction needs a few of its blocks."""
        arguments = self.arguments
        deadline = time.perf_counter() + arguments.timeout
        profiler = kernel.get_profiler(arguments.supply_type)
        inputs = self._inputs(profiler)

        def watch(*_: Any) -> None:
            if time.perf_counter() > deadline:
                raise TimeoutError(f"no result within {arguments.timeout:g} s")

        is_virtual = kernel.placement.is_virtual
        previous = kernel.watch(watch)  # ends a launch that takes too long
        try:
            if not (is_virtual and self._is_unchecked()):
                self._check(profiler, inputs)
        finally:
            kernel.watch(previous)
        if is_virtual:
            return PredictedTime.of(kernel.predict(*inputs)), None
        latency = profiler.do_bench(
            warmup=arguments.warmup,
            rep=arguments.rep,
            input_tensors=inputs,
            backend=arguments.backend,
            return_mode="median",
            early_stop_baseline=self._baseline(),
            deadline=deadline,
        )
        self.best_latency = min(latency, self.best_latency or latency)
        if self.ref_latency is None and arguments.ref_prog is not None:
            self.ref_latency = profiler.do_bench(
                arguments.ref_prog,
                warmup=arguments.warmup,
                rep=arguments.rep,
                input_tensors=inputs,
                return_mode="median",
            )
        return latency, self.ref_latency

    def _is_unchecked(self) -> bool:
        return self.arguments.skip_check or self.arguments.ref_prog is None

    def _baseline(self) -> float | None:
        """A kernel that seems to take longer is timed no further."""
        if not self.arguments.early_stop or self.best_latency is None:
            return None
        return self.best_latency * self.arguments.early_stop_factor

    def _inputs(self, profiler: Any) -> list[Any]:
        arguments = self.arguments
        if arguments.inputs is not None:
            return arguments.inputs
        if self.cached_inputs is not None and arguments.cache_input_tensors:
            return self.cached_inputs
        if arguments.supply_prog is not None:
            self.cached_inputs = list(arguments.supply_prog(profiler._get_params()))
        else:
            self.cached_inputs = profiler._get_inputs()
        return self.cached_inputs

    def _check(self, profiler: Any, inputs: list[Any]) -> None:
        """Compares with the reference, or runs once so that a bad candidate fails here."""
        arguments = self.arguments
        if self._is_unchecked():
            profiler.kernel(*inputs)
        elif arguments.manual_check_prog is not None:
            profiler.manual_assert_close(
                arguments.ref_prog, inputs, manual_check_prog=arguments.manual_check_prog
            )
        else:
            profiler.assert_allclose(
                arguments.ref_prog,
                inputs,
                atol=arguments.atol,
                rtol=arguments.rtol,
                max_mismatched_ratio=arguments.max_mismatched_ratio,
            )


@dataclass(frozen=True)
class Trial:
    """A candidate as a task for an executor: called, it compiles, checks and times."""

    make: Callable[[dict[str, Any]], Any]  # a configuration to (prim_func, out_idx)
    config: dict[str, Any]
    placement: Placement
    pass_configs: dict[str, Any]
    arguments: ProfileArgs = field(default_factory=ProfileArgs)

    def __call__(self) -> Outcome:
        try:
            prim_func, out_idx = self.make(self.config)
            kernel = JITKernel(prim_func, out_idx, self.placement, self.pass_configs)
            latency, reference = Bench(self.arguments).measure(kernel)
        except Exception as error:
            return Outcome(self.config, error=describe(error))
        return Outcome(self.config, latency, reference)


def describe(error: BaseException) -> str:
    """The first line of what went wrong."""
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    # Each version of Python has words of its own for a function that no other process can find.
    if isinstance(error, PicklingError) or re.match(r"Can't (get|pickle) local object", text):
        return f"the task cannot be pickled: {text}; functions must be of a module"
    return text
