"""`@tilewright.autotune` above `@tilewright.jit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

from tilewright.frontend.functions import PrimFunc
from tilewright.runtime.jitting import JITFunction, argument_key
from tilewright.runtime.kernel import JITKernel
from tilewright.runtime.pass_config import normalize
from tilewright.runtime.supply import TensorSupplyType
from tilewright.runtime.tuner.capture import get_autotune_executor, get_autotune_inputs
from tilewright.runtime.tuner.trials import ProfileArgs
from tilewright.runtime.tuner.tuner import PASS_CONFIGS, AutoTuner, takes
from tilewright.support.errors import LanguageError, reporting

__tracebackhide__ = True  # pytest shows the user's frames


class AutotunedFunction:
    """A jitted function whose tuning arguments are found by trying. Passing one of them by hand
    switches tuning off for that call."""

    def __init__(
        self,
        jit: JITFunction,
        configs: Any,
        arguments: ProfileArgs,
        do_not_specialize: Sequence[str],
        executor: Executor | None,
    ) -> None:
        self.jit_impl = jit
        self.__name__ = jit.__name__
        self.__doc__ = jit.__doc__
        self.__wrapped__ = jit.__wrapped__
        self._configs = configs
        self._arguments = arguments
        self._ignored = frozenset(do_not_specialize)
        self._executor = executor
        self._found: dict[Any, tuple[JITKernel, dict[str, Any]]] = {}
        self._variants: dict[str, JITFunction] = {}  # by the pass configs of a configuration

    def __repr__(self) -> str:
        return f"<autotune {self.__name__}>"

    @reporting
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        executor = self._take_executor(kwargs)
        if self._is_given(args, kwargs):
            return self.jit_impl(*args, **kwargs)
        kernel, config = self._tune(args, kwargs, executor)
        if self.jit_impl.mode == "lazy":
            return kernel
        function, named = self._compiled_as(config)
        return function(*args, **{**kwargs, **named})

    def _compiled_as(self, config: dict[str, Any]) -> tuple[JITFunction, dict[str, Any]]:
        """The function that compiles as a configuration asks, and the arguments in it."""
        named = dict(config)
        if takes(self.jit_impl, PASS_CONFIGS) or not named.get(PASS_CONFIGS):
            return self.jit_impl, named
        options = self.jit_impl.options
        own = normalize({**(options.get(PASS_CONFIGS) or {}), **named.pop(PASS_CONFIGS)})
        variant = self._variants.setdefault(
            repr(sorted(own.items())),
            JITFunction(self.jit_impl.__wrapped__, {**options, PASS_CONFIGS: own}),
        )
        return variant, named

    @reporting
    def compile(self, *args: Any, **kwargs: Any) -> JITKernel:
        """The fastest kernel for these arguments, without running it."""
        executor = self._take_executor(kwargs)
        if self._is_given(args, kwargs):
            return self.jit_impl.compile(*args, **kwargs)
        return self._tune(args, kwargs, executor)[0]

    def _take_executor(self, kwargs: dict[str, Any]) -> Executor | None:
        """The executor of this call: its own, that of the block around it, or the decorator's."""
        own = None if takes(self.jit_impl, "executor") else kwargs.pop("executor", None)
        if own is not None and not hasattr(own, "submit"):
            raise LanguageError(
                f"'executor' must be a concurrent.futures.Executor, got a {type(own).__name__}"
            )
        return own or get_autotune_executor() or self._executor

    def get_kernel_source(self, *args: Any, **kwargs: Any) -> str:
        """The generated code of the fastest kernel for these arguments."""
        return self.compile(*args, **kwargs).get_kernel_source()

    def _tuner(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AutoTuner:
        tuner = AutoTuner(self.jit_impl, self._configs).set_kernel_parameters(args, kwargs)
        options = self.jit_impl.options
        names = ("out_idx", "target", "pass_configs", "device")
        tuner.set_compile_args(**{name: options.get(name) for name in names})
        tuner.profile_args = self._arguments
        return tuner

    def _is_given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """True if the caller chose a tuning argument. One of `do_not_specialize` is only a start:
        the configurations replace it."""
        given = self.jit_impl.given_arguments(args, kwargs)
        tuned = {key for config in self._tuner(args, kwargs).expand_configs() for key in config}
        return not tuned.isdisjoint(given.keys() - self._ignored)

    def _tune(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], executor: Executor | None
    ) -> tuple[JITKernel, dict[str, Any]]:
        given = self.jit_impl.given_arguments(args, kwargs)
        kept = {name: value for name, value in given.items() if name not in self._ignored}
        key = argument_key({name: _shape_or_value(value) for name, value in kept.items()})
        if key is not None and key in self._found:
            return self._found[key]
        if self.jit_impl.mode == "eager" and self._arguments.supply_prog is None:
            tensors = self.jit_impl.tensor_arguments(args, kwargs)
            if get_autotune_inputs() is None and tensors:
                from tilewright.runtime.tuner.capture import set_autotune_inputs

                with set_autotune_inputs(tensors):
                    result = self._tuner(args, kwargs).run(executor=executor)
                return self._remember(key, result)
        return self._remember(key, self._tuner(args, kwargs).run(executor=executor))

    def _remember(self, key: Any, result: Any) -> tuple[JITKernel, dict[str, Any]]:
        found = result.kernel, result.config
        if key is not None:
            self._found[key] = found
        return found


def _shape_or_value(value: Any) -> Any:
    shape = getattr(value, "shape", None)
    return value if shape is None else ("tensor", tuple(shape), str(value.dtype))


def autotune(
    func: Any = None,
    *,
    configs: Any,
    warmup: float = 25,
    rep: float = 100,
    timeout: float = 100,
    supply_type: TensorSupplyType = TensorSupplyType.Auto,
    ref_prog: Callable[..., Any] | None = None,
    supply_prog: Callable[..., Any] | None = None,
    rtol: float = 1e-2,
    atol: float = 1e-2,
    max_mismatched_ratio: float = 0.01,
    skip_check: bool = False,
    manual_check_prog: Callable[..., Any] | None = None,
    cache_input_tensors: bool = False,
    do_not_specialize: Sequence[str] | None = None,
    early_stop: bool = False,
    early_stop_factor: float = 2.0,
    executor: Executor | None = None,
) -> Any:
    """Finds the fastest of `configs` (keyword arguments, or a function of the call's arguments that
    gives them) for each call of a jitted function. `pass_configs` in a configuration say how that
    candidate is compiled.

    Candidates are compared with `ref_prog` if there is one, on inputs of `supply_prog`, of
    `set_autotune_inputs`, or generated by `supply_type`; those that fail or take longer than
    `timeout` seconds are left out. Times as in `profiler.do_bench`. Arguments of
    `do_not_specialize` may change without tuning again. With `early_stop` a candidate that seems to
    take more than `early_stop_factor` times the best so far is timed no further. `executor` runs
    candidates elsewhere; a call may name its own (`function(…, executor=pool)`), and so may a block
    of the program (`with set_autotune_executor(pool):`).
    """
    arguments = ProfileArgs(
        warmup=warmup,
        rep=rep,
        timeout=timeout,
        supply_type=supply_type,
        ref_prog=ref_prog,
        supply_prog=supply_prog,
        rtol=rtol,
        atol=atol,
        max_mismatched_ratio=max_mismatched_ratio,
        skip_check=skip_check,
        manual_check_prog=manual_check_prog,
        cache_input_tensors=cache_input_tensors,
        early_stop=early_stop,
        early_stop_factor=early_stop_factor,
    )

    @reporting
    def decorate(function: Any) -> AutotunedFunction:
        if not isinstance(function, JITFunction):
            what = "a prim_func" if isinstance(function, PrimFunc) else type(function).__name__
            raise LanguageError(
                f"'autotune' decorates a function under @tilelang.jit, got {what}",
                hint="put @tilelang.jit below it",
            )
        return AutotunedFunction(
            function, configs, arguments, tuple(do_not_specialize or ()), executor
        )

    return decorate if func is None else decorate(func)
