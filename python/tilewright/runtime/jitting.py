"""`tilewright.jit` and `tilewright.compile`.

A jitted function has one of two forms, told apart by its source:
- *lazy*: it returns a `T.prim_func`; calling it gives a compiled kernel;
- *eager*: it is the kernel (it contains `T.Kernel` itself); calling it with tensors runs it.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.frontend import functions
from tilewright.frontend.eager import Declarations, ProbeDone
from tilewright.frontend.explain import run_trace
from tilewright.frontend.functions import PrimFunc, Stopwatch, declare_parameter
from tilewright.frontend.trace import TraceState
from tilewright.frontend.twins import twin_of
from tilewright.language.addresses import PointerType
from tilewright.runtime.arguments import is_torch
from tilewright.runtime.device import place
from tilewright.runtime.jit_form import annotated_tensors, is_eager, tensor_parameters
from tilewright.runtime.kernel import JITKernel, TilewrightWarning
from tilewright.runtime.pass_config import fast_math, normalize
from tilewright.support import environment
from tilewright.support.errors import LanguageError, TilewrightError, reporting
from tilewright.support.source import function_node, location_of
from tilewright.support.suggest import hint_for
from tilewright.types.tensor_type import TensorType

if TYPE_CHECKING:
    from tilewright.runtime.verify import Verification

__tracebackhide__ = True  # pytest shows the user's frames


@reporting
def compile(
    func: PrimFunc,
    out_idx: Any = None,
    execution_backend: str | None = None,
    target: Any = None,
    target_host: Any = None,
    verbose: bool | None = None,
    pass_configs: dict[Any, Any] | None = None,
    compile_flags: Any = None,
    device: str | None = None,
) -> JITKernel:
    """Compiles a traced function into a kernel that can be called with arrays.

    The arguments are TileLang's, in its order; `device` is ours. `execution_backend`, `target_host`
    and `compile_flags` choose among tools that are not part of this compiler.
    """
    if not isinstance(func, PrimFunc):
        hint = "decorate it with @T.prim_func" if callable(func) else None
        if isinstance(func, JITFunction):
            hint = f"call it: '{func.__name__}(…)' gives the compiled kernel"
        raise LanguageError(
            f"tilewright.compile expects a T.prim_func, got {_describe(func)}", hint=hint
        )
    configs = normalize(pass_configs)
    return JITKernel(func, out_idx, place(_target(target), device), configs)


def par_compile(
    funcs: Iterable[PrimFunc],
    out_idx: Any = None,
    execution_backend: str | None = None,
    target: Any = None,
    target_host: Any = None,
    verbose: bool | None = None,
    pass_configs: dict[Any, Any] | None = None,
    compile_flags: Any = None,
    num_workers: int | None = None,
    ignore_error: bool = False,
    device: str | None = None,
) -> list[JITKernel | None]:
    """`compile` for many functions, at most `num_workers` (one a core) at a time. With
    `ignore_error` a function that does not compile is a warning, and None in the list."""

    def compile_one(func: PrimFunc) -> JITKernel | None:
        try:
            return compile(func, out_idx, target=target, pass_configs=pass_configs, device=device)
        except TilewrightError as error:
            if not ignore_error:
                raise
            warnings.warn(str(error), TilewrightWarning, stacklevel=2)
            return None

    from concurrent.futures import ThreadPoolExecutor  # not at the start of every program

    with ThreadPoolExecutor(num_workers or len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(compile_one, funcs))


def _target(target: Any) -> Any:
    """`target`, or if there is none that of the `with Target(...)` around, if a program has one."""
    targets = sys.modules.get("tilewright.compat.tvm.target")
    return targets.Target.current() if target is None and targets is not None else target


def _describe(value: Any) -> str:
    if isinstance(value, FunctionType):
        return f"the plain function '{value.__name__}'"
    if isinstance(value, JITFunction):
        return f"'{value.__name__}', a function under @tilelang.jit"
    return "None" if value is None else f"a Python {type(value).__name__}"


_SIMPLE = (int, float, bool, str, type(None))


class Traced(NamedTuple):
    """A prim_func and which of its parameters a call returns."""

    prim_func: PrimFunc
    out_idx: Any


class JITFunction:
    """A function under `@tilewright.jit`. Kernels are cached by the arguments they depend on, and
    by the device, which the environment may change."""

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._function = function
        self.signature = inspect.signature(function)
        self.options = options
        self._configs = normalize(options.get("pass_configs"))
        self._traces: dict[Any, Traced] = {}
        self._reads_strides = False  # of tensors, for constants of T.const
        self._kernels: dict[Any, JITKernel] = {}
        self._quick: dict[Any, tuple[JITKernel, list[int]]] = {}  # of eager calls, by _quick_key
        self._eager: bool | None = None
        self._tensors: tuple[str, ...] = ()
        # Tensors that the signature declares, and addresses of tensors.
        self._annotated: dict[str, TensorType | PointerType] = {}

    def __repr__(self) -> str:
        return f"<jit {self.__name__}>"

    @property
    def mode(self) -> str:
        """ "lazy" or "eager"."""
        return "eager" if self._decide() else "lazy"

    @property
    def func(self) -> FunctionType:
        """The decorated function."""
        return self._function

    @property
    def out_idx(self) -> Any:
        """The parameters that a call returns, as the decorator has them."""
        return self.options.get("out_idx")

    @property
    def pass_configs(self) -> Any:
        """As the decorator has them."""
        return self.options.get("pass_configs")

    @property
    def target(self) -> Any:
        """As the decorator has it."""
        return self.options.get("target")

    def _decide(self) -> bool:
        if self._eager is None:
            self._eager = is_eager(self._function)
            if self._eager:
                if self.options.get("out_idx") is not None:
                    raise LanguageError(
                        f"'{self.__name__}' is an eager kernel: 'out_idx' is not allowed",
                        hint="declare outputs with T.empty and return them",
                    )
                self._annotated = annotated_tensors(self._function)
                declared = tensor_parameters(self._function)
                self._tensors = tuple(
                    name
                    for name in self.signature.parameters
                    if name in declared or name in self._annotated
                )
        return self._eager

    @reporting
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._decide():
            return self._kernel(*self._trace_lazy(args, kwargs))
        key = None if kwargs else self._quick_key(args)
        if key is not None and key in self._quick:
            kernel, positions = self._quick[key]
            return kernel(*[args[position] for position in positions])
        named, constants = self._split(kwargs)
        bound = self._bind(args, named)
        kernel = self._kernel(*self._trace_eager(bound, constants))
        given = [p["name"] for p in kernel.params if "pointed" not in p]
        names = [name for n, name in enumerate(given) if n not in kernel.out_idx]
        if key is not None:
            order = list(self.signature.parameters)
            positions = [order.index(name) for name in names]
            if all(position < len(args) for position in positions):
                self._quick[key] = kernel, positions
        return kernel(*[bound[name] for name in names])

    def _quick_key(self, args: tuple[Any, ...]) -> Any:
        """A key for the positional arguments of an eager call that is cheap to make: the shapes of
        tensors, simple values with their types, and what of the environment chooses the device.
        None for other values, and where constants are strides."""
        if self._reads_strides:
            return None
        key: list[Any] = [
            environment.text("TILEWRIGHT_DEVICE"),
            environment.text("TILEWRIGHT_CHECK"),
        ]
        for name, value in zip(self.signature.parameters, args, strict=False):
            kind = type(value)
            if name in self._tensors:
                key.append(getattr(value, "shape", None))
            elif kind in _SIMPLE:
                key.append(value)
            else:
                return None
            key.append(kind)
        return tuple(key) if len(args) <= len(self.signature.parameters) else None

    @reporting
    def compile(self, *args: Any, **kwargs: Any) -> JITKernel:
        """The kernel for these arguments, without running it.

        Of an eager kernel, tensors may be left out if the constants of `T.const` are given by name.
        """
        return self._kernel(*self._trace(args, kwargs))

    @reporting
    def verify(self, *args: Any, **kwargs: Any) -> Verification:
        """Verifies the kernel for these arguments (`kernel.verify`): an eager kernel on copies of
        the tensors among them, a lazy one on made-up inputs."""
        if not self._decide():
            return self.compile(*args, **kwargs).verify()
        kernel = self._kernel(*self._trace(args, kwargs))
        bound = self.given_arguments(args, kwargs)
        names = [p["name"] for n, p in enumerate(kernel.params) if n not in kernel.out_idx]
        if not any(name in bound for name in names):
            return kernel.verify()
        return kernel.verify(*[bound[name] for name in names])

    def get_kernel_source(self, *args: Any, **kwargs: Any) -> str:
        """The generated code of the kernel for these arguments."""
        return self.compile(*args, **kwargs).get_kernel_source()

    @reporting
    def get_tir(self, *args: Any, **kwargs: Any) -> PrimFunc:
        """The traced function for these arguments."""
        return self._trace(args, kwargs)[1].prim_func

    def par_compile(
        self,
        configs: Iterable[dict[str, Any] | tuple[Any, ...]],
        num_workers: int | None = None,
        ignore_error: bool = False,
    ) -> list[JITKernel | None]:
        """The kernels for several sets of arguments (keyword arguments, or a tuple of positional
        ones), compiled in parallel; the rest is as `tilewright.par_compile` has it."""
        traced = [
            self.trace(**config) if isinstance(config, dict) else self.trace(*config)
            for config in configs
        ]
        return par_compile(
            [one.prim_func for one in traced],
            out_idx=traced[0].out_idx if traced else None,
            target=self.options.get("target"),
            pass_configs=self.options.get("pass_configs"),
            num_workers=num_workers,
            ignore_error=ignore_error,
            device=self.options.get("device"),
        )

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The traced function for these arguments and the parameters that a call returns."""
        return self._trace(args, kwargs)[1]

    def tensor_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Of an eager kernel: the tensors among the arguments of a call, in order; none where the
        constants of `T.const` stand in for them."""
        self._decide()
        given = self.given_arguments(args, kwargs)
        if any(name not in given for name in self._tensors):
            return []
        return [given[name] for name in self._tensors]

    def given_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What a call says, by name; of an eager kernel also the constants of `T.const`."""
        named, constants = self._split(kwargs)
        if constants and not self._decide():
            raise LanguageError(f"'{self.__name__}' has no parameter '{next(iter(constants))}'")
        return {**self.signature.bind_partial(*args, **named).arguments, **constants}

    def __reduce__(self) -> tuple[Any, ...]:
        """Found again by name; pickled by value where it has none (a function in a function)."""
        function = self._function
        if "<locals>" in function.__qualname__:
            return JITFunction, (function, self.options)
        file = inspect.getsourcefile(function)
        return find_jit, (function.__module__, function.__qualname__, file)

    def _trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Traced]:
        """The program for these arguments and a key for them, None if they cannot be compared."""
        if not self._decide():
            return self._trace_lazy(args, kwargs)
        named, constants = self._split(kwargs)
        return self._trace_eager(self._bind(args, named, partial=True), constants)

    def _kernel(self, key: Any, traced: Traced) -> JITKernel:
        placement = place(_target(self.options.get("target")), self.options.get("device"))
        kernel = self._kernels.get((placement, key)) if key is not None else None
        if kernel is None:
            kernel = JITKernel(traced.prim_func, traced.out_idx, placement, self._configs)
            if key is not None:
                kernel = self._kernels.setdefault((placement, key), kernel)
        return kernel

    # ---- Lazy ----

    def _trace_lazy(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Traced]:
        key = argument_key((args, tuple(sorted(kwargs.items()))))
        if key is not None and key in self._traces:
            return key, self._traces[key]
        self._check_arguments(args, kwargs)
        with functions.fast_math(fast_math(self._configs)):
            made = self._function(*args, **kwargs)
        if not isinstance(made, PrimFunc):
            raise LanguageError(
                f"'{self.__name__}' must return a T.prim_func, got {_describe(made)}",
                hint="or open the kernel in its own body ('with T.Kernel(...)')",
                location=location_of(
                    self._function.__code__.co_filename, function_node(self._function)
                ),
            )
        return self._keep(key, Traced(made, self.options.get("out_idx")))

    def _check_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A call that does not fit the function is an error of the caller, at the call."""
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            known = list(self.signature.parameters)
            unknown = next((name for name in kwargs if name not in known), None)
            hint = hint_for(unknown, known) if unknown else None
            hint = hint or f"it is defined as '{self.__name__}{self.signature}'"
            raise LanguageError(f"'{self.__name__}': {error}", hint=hint) from None

    def _keep(self, key: Any, traced: Traced) -> tuple[Any, Traced]:
        return key, self._traces.setdefault(key, traced) if key is not None else traced

    # ---- Eager ----

    def _split(self, kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Keyword arguments: those that are parameters, and the others, which name constants."""
        known = self.signature.parameters
        named = {name: value for name, value in kwargs.items() if name in known}
        return named, {name: value for name, value in kwargs.items() if name not in known}

    def _check_unused(self, declarations: Declarations) -> None:
        """A keyword argument that is neither a parameter nor a constant is ignored with a warning,
        as TileLang ignores it (vLLM passes one to a kernel of mHC), if it is no slip."""
        known = [*self.signature.parameters, *sorted(declarations.named)]
        for name in sorted(declarations.given - declarations.named):
            text = f"'{self.__name__}': the keyword argument '{name}' is neither a parameter nor "
            text += "a constant of T.const"
            if hint := hint_for(name, known):
                raise LanguageError(text, hint=hint)
            warnings.warn(f"{text}; it is ignored", TilewrightWarning, stacklevel=6)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], partial: bool = False) -> Any:
        binder = self.signature.bind_partial if partial else self.signature.bind
        try:
            bound = binder(*args, **kwargs)
        except TypeError as error:
            hint = f"it is defined as '{self.__name__}{self.signature}'"
            raise LanguageError(f"'{self.__name__}': {error}", hint=hint) from None
        bound.apply_defaults()
        return bound.arguments

    def _trace_eager(self, bound: dict[str, Any], constants: dict[str, int]) -> tuple[Any, Traced]:
        addresses = {n for n, kind in self._annotated.items() if isinstance(kind, PointerType)}
        shapes = {
            name: None if name in addresses else _shape_of(bound.get(name), name)
            for name in self._tensors
        }
        others = {name: v for name, v in bound.items() if name not in self._tensors}

        def strides_of(name: str) -> tuple[int, ...] | None:
            return _strides_of(bound.get(name))

        def make_key() -> Any:
            tensors: Any = tuple(shapes.items())
            if self._reads_strides:
                tensors = (tensors, tuple(map(strides_of, self._tensors)))
            return argument_key((tensors, tuple(others.items()), tuple(constants.items())))

        key = make_key()
        if key is not None and key in self._traces:
            return key, self._traces[key]
        declarations = Declarations(shapes, constants, strides_of)
        missing = [n for n in self.signature.parameters if n not in bound and n not in shapes]
        if missing:
            raise LanguageError(f"'{self.__name__}': argument '{missing[0]}' is missing")
        self._probe(declarations, others)
        if declarations.reads_strides and not self._reads_strides:
            self._reads_strides = True
            key = make_key()
        prim_func, outputs = self._build(declarations, others)
        self._check_unused(declarations)
        names = [parameter["name"] for parameter in prim_func.params]
        return self._keep(key, Traced(prim_func, [names.index(name) for name in outputs]))

    def _start(self, declarations: Declarations) -> tuple[TraceState, Callable[..., Any]]:
        code = self._function.__code__
        twin = twin_of(self._function, "eager")
        state = TraceState(self.__name__, code.co_filename, code.co_firstlineno)
        state.eager = declarations
        return state, twin

    def _probe(self, declarations: Declarations, others: dict[str, Any]) -> None:
        state, twin = self._start(declarations)
        placeholders = {**dict.fromkeys(self._tensors), **self._annotated}
        if len(self._annotated) == len(self._tensors):
            return  # there is nothing to find
        declarations.declared.update(self._annotated)
        try:
            run_trace(state, lambda: twin(**placeholders, **others))
        except ProbeDone:
            return

    def _build(
        self, declarations: Declarations, others: dict[str, Any]
    ) -> tuple[PrimFunc, list[str]]:
        declarations.restart()
        watch = Stopwatch()
        state, twin = self._start(declarations)
        source = location_of(self._function.__code__.co_filename, function_node(self._function))

        def body() -> Any:
            state.core.locate(source.file, source.line, source.column)
            tensors = {
                name: declare_parameter(state, name, self._annotated[name])
                if name in self._annotated
                else None
                for name in self._tensors
            }
            result = twin(**tensors, **others)
            outputs = declarations.returned(self.__name__, result, source)
            if not state.kernels:
                raise LanguageError(f"'{self.__name__}' launches no kernel", location=source)
            watch.lap("trace")
            program = state.core.finish(fast_math(self._configs))
            program.check()
            watch.lap("verify")
            return program, outputs

        program, outputs = run_trace(state, body)
        notes = state.parameter_notes
        return PrimFunc(self.__name__, program, source, watch.seconds, notes), outputs


def find_jit(module: str, name: str, file: str | None) -> JITFunction:
    """The jitted function of that name, in this process or, where its module is not known (the main
    module of another process), in its file."""
    import importlib
    import importlib.util
    import sys

    found: Any = sys.modules.get(module)
    if found is None and module != "__main__":
        found = importlib.import_module(module)
    first = name.split(".")[0]
    if not hasattr(found, first) and file is not None:
        spec = importlib.util.spec_from_file_location(f"tilewright_{abs(hash(file)):x}", file)
        if spec is None or spec.loader is None:
            raise LanguageError(f"'{name}' is not found: '{file}' is no Python file")
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    for part in name.split("."):
        found = getattr(found, part)
    found = getattr(found, "jit_impl", found)  # below @autotune
    if not isinstance(found, JITFunction):
        raise LanguageError(f"'{name}' of '{module}' is not a function under @tilelang.jit")
    return found


def _strides_of(value: Any) -> tuple[int, ...] | None:
    """The strides of a tensor, in elements."""
    if value is None or isinstance(value, TensorType):
        return getattr(value, "strides", None)
    if is_torch(value):
        return tuple(value.stride())
    strides, size = getattr(value, "strides", None), getattr(value, "itemsize", 1)
    return None if strides is None else tuple(stride // size for stride in strides)


def _shape_of(value: Any, name: str) -> tuple[int, ...] | None:
    if value is None:
        return None
    if isinstance(value, TensorType):  # a declaration may stand for a tensor of its shape
        return value.shape
    if is_torch(value) or hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__"):
        return tuple(int(extent) for extent in value.shape)
    raise LanguageError(
        f"parameter '{name}': expected a tensor, got a Python {type(value).__name__}"
    )


def argument_key(value: Any) -> Any:
    """A dictionary key for argument values, or None if they cannot be compared."""

    def freeze(item: Any) -> Any:
        if isinstance(item, list | tuple):
            return (type(item).__name__, tuple(freeze(part) for part in item))
        if isinstance(item, dict):
            return ("dict", tuple((freeze(k), freeze(v)) for k, v in item.items()))
        return (type(item).__name__, item)

    try:
        frozen = freeze(value)
        hash(frozen)
    except TypeError:
        return None
    return frozen


def jit(
    func: Callable[..., Any] | None = None,
    *,
    out_idx: Any = None,
    target: Any = None,
    target_host: Any = None,
    execution_backend: str | None = None,
    verbose: bool | None = None,
    pass_configs: dict[Any, Any] | None = None,
    debug_root_path: str | None = None,
    compile_flags: Any = None,
    device: str | None = None,
) -> Any:
    """Compiles kernels on demand: `@tilewright.jit` or `@tilewright.jit(out_idx=[-1])`.

    Lazy form: the function returns a `T.prim_func`; calling it gives a kernel. `out_idx` names the
    parameters that the kernel allocates and returns. Eager form: the function is the kernel;
    calling it with tensors runs it. A `T.prim_func` becomes a kernel at once.
    """
    options = {
        "out_idx": out_idx,
        "target": target,
        "pass_configs": pass_configs,
        "device": device,
    }
    if func is None:
        return lambda decorated: _jit(decorated, options)
    return _jit(func, options)


@reporting
def _jit(function: Any, options: dict[str, Any]) -> JITFunction | JITKernel:
    if isinstance(function, PrimFunc):  # `@jit` above `@T.prim_func`
        return compile(function, **options)
    if not isinstance(function, FunctionType):
        raise LanguageError(f"'jit' expects a function, got {_describe(function)}")
    return JITFunction(function, options)
