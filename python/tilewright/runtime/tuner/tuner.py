"""`AutoTuner`: compiles candidates, times them, keeps the result."""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from math import nan
from pathlib import Path
from typing import Any

from tilewright._core import core
from tilewright.frontend.functions import PrimFunc
from tilewright.runtime import kernel as kernels
from tilewright.runtime.device import Placement, place
from tilewright.runtime.jitting import JITFunction, Traced
from tilewright.runtime.kernel import JITKernel
from tilewright.runtime.pass_config import normalize
from tilewright.runtime.tuner.capture import get_autotune_executor, get_autotune_inputs
from tilewright.runtime.tuner.show import bar, make_console, show_table
from tilewright.runtime.tuner.trials import Bench, Outcome, ProfileArgs, Trial, describe
from tilewright.support import environment
from tilewright.support.errors import LanguageError, TilewrightError, reporting

__tracebackhide__ = True  # pytest shows the user's frames


@dataclass(frozen=True)
class CompileArgs:
    """How candidates are compiled: `tilewright.compile`'s arguments."""

    out_idx: Any = None
    target: Any = None
    execution_backend: str | None = None
    target_host: Any = None
    verbose: bool | None = None
    pass_configs: dict[Any, Any] | None = None
    device: str | None = None


@dataclass(frozen=True)
class AutotuneResult:
    """The fastest candidate, and what became of all."""

    latency: float | None = None
    config: dict[str, Any] | None = None
    ref_latency: float | None = None
    libcode: str | None = None
    func: PrimFunc | None = None
    kernel: JITKernel | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    is_cached: bool = False  # of an earlier run: nothing was timed now


#: A key of a configuration that is no argument of the function: how the candidate is compiled.
PASS_CONFIGS = "pass_configs"


#: Seconds that a task of an executor may take beyond twice its time limit, which it enforces
#: itself: to start, to compile, to send its answer.
SILENCE = 10.0


def _raise(error: Exception) -> Any:
    raise error


def _as_answered(tasks: Iterable[Future], patience: float) -> Iterator[Future]:
    """The tasks as they are done, or have been running for longer than `patience` seconds."""
    waiting, started = set(tasks), dict.fromkeys(tasks, float("inf"))
    while waiting:
        done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
        now = time.monotonic()
        for task in waiting:
            if task.running():
                started[task] = min(started[task], now)
        silent = {task for task in waiting if now - started[task] > patience}
        waiting -= silent
        yield from done | silent


def takes(function: Any, name: str) -> bool:
    """Whether a function has such a parameter."""
    known = inspect.signature(getattr(function, "__wrapped__", function)).parameters
    return name in known or any(p.kind is p.VAR_KEYWORD for p in known.values())


@dataclass(frozen=True)
class Maker:
    """Traces a candidate: a function with the arguments that are not tuned."""

    function: Any  # a JITFunction, or a function that returns a prim_func
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    out_idx: Any = None

    def __call__(self, config: dict[str, Any]) -> Traced:
        named = {**self.kwargs, **config}
        if not takes(self.function, PASS_CONFIGS):
            named.pop(PASS_CONFIGS, None)
        if isinstance(self.function, JITFunction):
            return self.function.trace(*self.args, **named)
        made = self.function(*self.args, **named)
        if not isinstance(made, PrimFunc):
            raise LanguageError(
                f"a function to tune must return a T.prim_func, got a {type(made).__name__}"
            )
        return Traced(made, self.out_idx)


class AutoTuner:
    """Finds the fastest of some configurations of a function.

    result = AutoTuner.from_kernel(kernel=function, configs=[{"block": 64}, {"block": 128}])
        .set_compile_args(out_idx=[-1]).set_profile_args(ref_prog=reference).run()
    """

    def __init__(self, fn: Any, configs: Any) -> None:
        self.fn = fn
        self.configs = configs
        self.compile_args = CompileArgs()
        self.profile_args = ProfileArgs()
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}

    @classmethod
    def from_kernel(cls, kernel: Any, configs: Any) -> AutoTuner:
        """A tuner of a function that returns a prim_func; `configs` is a list of keyword arguments,
        or a function that gives one."""
        return cls(kernel, configs)

    def set_compile_args(self, *arguments: Any, **named: Any) -> AutoTuner:
        """How candidates are compiled: the fields of CompileArgs, in their order or by name."""
        self.compile_args = CompileArgs(*arguments, **named)
        return self

    def set_profile_args(self, *arguments: Any, **named: Any) -> AutoTuner:
        """How candidates are checked and timed: the fields of ProfileArgs, in their order or by
        name; their meaning is `tilewright.autotune`'s."""
        self.profile_args = ProfileArgs(*arguments, **named)
        return self

    def set_kernel_parameters(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AutoTuner:
        """Arguments of the function that are not tuned."""
        self._args, self._kwargs = args, dict(kwargs)
        return self

    def __call__(self) -> AutotuneResult:
        return self.run()

    @reporting
    def run(
        self,
        warmup: float | None = None,
        rep: float | None = None,
        timeout: float | None = None,
        use_pipeline: bool = False,
        enable_grouped_compile: bool = False,
        group_compile_size: int = 2,
        benchmark_devices: list[int] | None = None,
        benchmark_multi_gpu: bool = False,
        early_stop: bool | None = None,
        early_stop_factor: float | None = None,
        executor: Executor | None = None,
    ) -> AutotuneResult:
        """Finds the fastest candidate, or takes it from the cache.

        With `early_stop` a candidate that seems to take more than `early_stop_factor` times the
        best so far is timed no further. The arguments between `timeout` and `early_stop` say how
        TileLang spreads compilers and GPUs over candidates and change no result; they have no
        effect here.

        With an `executor` each candidate is compiled, checked and timed as a task of it: a process
        pool, or the pool of a cluster; `set_autotune_executor` says the same to a block of the
        program. Otherwise candidates are compiled in parallel and timed one after another in this
        process.
        """
        given = {
            "warmup": warmup,
            "rep": rep,
            "timeout": timeout,
            "early_stop": early_stop,
            "early_stop_factor": early_stop_factor,
        }
        given = {name: value for name, value in given.items() if value is not None}
        arguments = replace(self.profile_args, inputs=get_autotune_inputs(), **given)
        if arguments.early_stop and arguments.early_stop_factor < 1:
            raise LanguageError(
                f"early_stop_factor must be at least 1, got {arguments.early_stop_factor}"
            )
        search = _Search(self, arguments)
        if kernels.skipped_calls is not None:  # `tw check`, `tw compile`: there is nothing to time
            return search.finish(*search.take_first())
        found = search.look_up()
        is_cached = found is not None
        if found is None:
            executor = executor or get_autotune_executor()
            outcomes = search.run_on(executor) if executor else search.run_here()
            search.show(outcomes)
            found = search.keep(outcomes)
        else:
            search.show_cached(*found)
        return replace(search.finish(*found), is_cached=is_cached)

    def expand_configs(self) -> list[dict[str, Any]]:
        """The configurations, each checked to name parameters of the function; `pass_configs` says
        how a candidate is compiled, beyond what all have in common."""
        configs = self.configs
        if callable(configs):
            configs = configs(*self._args, **self._kwargs)
        if not isinstance(configs, Sequence) or not all(isinstance(c, dict) for c in configs):
            raise LanguageError("'configs' must be a list of dictionaries of keyword arguments")
        if not configs:
            raise LanguageError("there are no configurations to tune")
        function = getattr(self.fn, "__wrapped__", self.fn)
        for config in configs:
            unknown = [key for key in config if key != PASS_CONFIGS and not takes(function, key)]
            if unknown:
                raise LanguageError(
                    f"a configuration names '{unknown[0]}', which is no parameter of "
                    f"'{function.__name__}'"
                )
        return [dict(config) for config in configs]


class _NotTraced(Exception):
    """A candidate has no program; the text says why."""


class _Search:
    """One run of a tuner: its candidates traced, its entry in the cache."""

    def __init__(self, tuner: AutoTuner, arguments: ProfileArgs) -> None:
        self.arguments = arguments
        self.configs = tuner.expand_configs()
        compile_args = tuner.compile_args
        self.placement: Placement = place(compile_args.target, compile_args.device)
        common = compile_args.pass_configs or {}
        self.pass_configs = [
            normalize({**common, **(config.get(PASS_CONFIGS) or {})}) for config in self.configs
        ]
        self.make = Maker(tuner.fn, tuner._args, tuner._kwargs, compile_args.out_idx)
        self.name = getattr(tuner.fn, "__name__", "kernel")
        self.traced = [self._trace(config) for config in self.configs]
        self.key = self._make_key()
        self.kernels: dict[int, JITKernel] = {}

    def _trace(self, config: dict[str, Any]) -> Traced | str:
        """The program of a candidate, or why there is none."""
        try:
            return self.make(config)
        except Exception as error:
            return describe(error)

    # ---- The cache ----

    def _make_key(self) -> list[str]:
        """All that the choice depends on. The programs themselves are in it, so that a change of
        anything they are made from is another key."""
        arguments = self.arguments
        numbers = {
            name: value
            for name, value in vars(arguments).items()
            if isinstance(value, int | float | str)
        }
        key = [
            json.dumps(numbers, sort_keys=True),
            f"{arguments.supply_type} {_describe_inputs(arguments.inputs)}",
            *(_source_of(f) for f in (arguments.ref_prog, arguments.supply_prog)),
            *(f"{self.placement.device} {self.pass_configs}", _describe_machine()),
        ]
        for config, traced in zip(self.configs, self.traced, strict=True):
            text = traced if isinstance(traced, str) else traced.prim_func.program.text()
            out_idx = "" if isinstance(traced, str) else str(traced.out_idx)
            key += [repr(sorted(config)), out_idx, text]
        return key

    def look_up(self) -> tuple[int, list[Outcome]] | None:
        """The fastest candidate and all outcomes, if they were found before."""
        content = core.cache_lookup("autotune", self.key)
        if content is None:
            return None
        stored = json.loads(content)
        outcomes = [
            Outcome(config, *values)
            for config, values in zip(self.configs, stored["outcomes"], strict=True)
        ]
        return stored["best"], outcomes

    def keep(self, outcomes: list[Outcome]) -> tuple[int, list[Outcome]]:
        """Picks the fastest and writes it down; raises if there is none. Predicted times, of a
        virtual GPU, are not written down."""
        timed = [n for n, outcome in enumerate(outcomes) if outcome.latency is not None]
        if not timed:
            reasons = {outcome.error: None for outcome in outcomes}
            raise TilewrightError(
                f"tuning '{self.name}': none of {len(outcomes)} configurations works; "
                + "; ".join(str(reason) for reason in list(reasons)[:3])
            )
        best = min(timed, key=lambda n: outcomes[n].latency or 0.0)
        if self.placement.is_virtual:
            return best, outcomes
        stored = [list(asdict(outcome).values())[1:] for outcome in outcomes]
        content = json.dumps({"best": best, "outcomes": stored})
        core.cache_store("autotune", self.key, content.encode())
        return best, outcomes

    # ---- Candidates ----

    def take_first(self) -> tuple[int, list[Outcome]]:
        """The first candidate that compiles, without times."""
        outcomes = [Outcome(config, error="not tried") for config in self.configs]
        for position, config in enumerate(self.configs):
            try:
                self.kernels[position] = self._compile(position)
            except Exception as error:
                outcomes[position] = Outcome(config, error=describe(error))
                continue
            outcomes[position] = Outcome(config, nan, nan if self.arguments.ref_prog else None)
            return position, outcomes
        return self.keep(outcomes)  # which says that none works

    def run_here(self) -> list[Outcome]:
        """Compiles in parallel, times one after another."""
        console = make_console()
        outcomes: dict[int, Outcome] = {}
        with bar(console, "compiling", len(self.configs)) as compiling:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                tasks = {pool.submit(self._compile, n): n for n in range(len(self.configs))}
                for task in as_completed(tasks):
                    position = tasks[task]
                    try:
                        self.kernels[position] = task.result()
                    except Exception as error:
                        outcomes[position] = Outcome(self.configs[position], error=describe(error))
                    compiling.advance()
        bench = Bench(self.arguments)
        with bar(console, "timing", len(self.kernels)) as timing:
            for position, kernel in sorted(self.kernels.items()):
                outcomes[position] = self._measure(bench, kernel, self.configs[position])
                timing.advance(outcomes[position].latency)
        return [outcomes[n] for n in range(len(self.configs))]

    def _compile(self, position: int) -> JITKernel:
        traced = self.traced[position]
        if isinstance(traced, str):
            raise _NotTraced(traced)
        return JITKernel(
            traced.prim_func, traced.out_idx, self.placement, self.pass_configs[position]
        )

    @staticmethod
    def _measure(bench: Bench, kernel: JITKernel, config: dict[str, Any]) -> Outcome:
        try:
            latency, reference = bench.measure(kernel)
        except Exception as error:
            return Outcome(config, error=describe(error))
        return Outcome(config, latency, reference)

    def run_on(self, executor: Executor) -> list[Outcome]:
        """Each candidate is a task of the executor."""
        trials = [
            Trial(self.make, config, self.placement, pass_configs, self.arguments)
            for config, pass_configs in zip(self.configs, self.pass_configs, strict=True)
        ]
        outcomes: dict[int, Outcome] = {}
        with bar(make_console(), "tuning", len(trials)) as progress:

            def finish(position: int, result: Callable[[], Outcome]) -> None:
                try:
                    outcomes[position] = result()
                except Exception as error:  # of the executor: it cannot be sent, a crash, silence
                    outcomes[position] = Outcome(self.configs[position], error=describe(error))
                progress.advance(outcomes[position].latency)

            tasks: dict[Future, int] = {}
            for position, trial in enumerate(trials):
                try:
                    tasks[executor.submit(trial)] = position
                except Exception as error:
                    finish(position, partial(_raise, error))
            for task in _as_answered(tasks, 2 * self.arguments.timeout + SILENCE):
                silence = TimeoutError("the executor gave no answer")
                finish(tasks[task], task.result if task.done() else partial(_raise, silence))
        return [outcomes[n] for n in range(len(trials))]

    def show(self, outcomes: list[Outcome]) -> None:
        """The table."""
        show_table(make_console(), self.name, outcomes, self.placement.device)

    def show_cached(self, best: int, outcomes: list[Outcome]) -> None:
        """That nothing was timed now."""
        chosen = outcomes[best]
        config = ", ".join(f"{name}={value}" for name, value in chosen.config.items())
        make_console().print(
            f"'{self.name}' on {self.placement.device}: {config}, {chosen.latency:.3f} ms, "
            f"cached: the fastest of {len(outcomes)} in an earlier run",
            highlight=False,
            soft_wrap=True,
        )

    def finish(self, best: int, outcomes: list[Outcome]) -> AutotuneResult:
        """The result, with the kernel compiled here."""
        kernel = self.kernels.get(best) or self._compile(best)
        chosen = outcomes[best]
        kernel.latency, kernel.config = chosen.latency, chosen.config
        kernel.ref_latency = chosen.ref_latency
        return AutotuneResult(
            chosen.latency,
            chosen.config,
            chosen.ref_latency,
            kernel.get_kernel_source(),
            kernel.prim_func,
            kernel,
            outcomes,
        )


def _describe_inputs(inputs: Sequence[Any] | None) -> str:
    def describe_input(value: Any) -> str:
        shape = getattr(value, "shape", None)
        return repr(value) if shape is None else f"{tuple(shape)} {value.dtype}"

    return "" if inputs is None else "; ".join(describe_input(value) for value in inputs)


def _source_of(function: Callable[..., Any] | None) -> str:
    if function is None:
        return ""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return repr(function)


@cache
def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    lines = [line for line in text.splitlines() if line.startswith(("model name", "flags"))]
    return "\n".join(dict.fromkeys(lines))


def _describe_machine() -> str:
    """What times depend on besides the programs."""
    threads = environment.text("TILEWRIGHT_THREADS") or ""
    features = environment.text("TILEWRIGHT_CPU") or ""
    return f"{os.cpu_count()} {threads} {features}\n{_processor()}"
