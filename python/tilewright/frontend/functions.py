"""`T.prim_func`: functions that are traced into a program."""

from __future__ import annotations

import ast
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any

from tilewright._core import core
from tilewright.frontend import trace
from tilewright.frontend.explain import run_trace
from tilewright.frontend.externs import ExternCall
from tilewright.frontend.trace import TraceState
from tilewright.frontend.twins import annotations_of, twin_of
from tilewright.support.errors import LanguageError, Location, TilewrightError, caller_location
from tilewright.support.source import function_node, location_of
from tilewright.types.dtypes import canonical, is_dtype
from tilewright.types.kernel_param import KernelParam
from tilewright.types.tensor_type import TensorType

__tracebackhide__ = True  # pytest shows the user's frames


@contextmanager
def fast_math(allowed: bool) -> Iterator[None]:
    """Functions traced inside may use approximate functions and contraction."""
    settings = trace.per_thread
    previous, settings.fast_math = settings.fast_math, allowed
    try:
        yield
    finally:
        settings.fast_math = previous


class PrimFunc:
    """A traced function: a host function that holds one or more kernels."""

    def __init__(
        self,
        name: str,
        program: Any,
        location: Location,
        seconds: dict[str, float],
        notes: dict[str, dict[str, Any]] | None = None,
        outputs: Sequence[str] = (),
        externs: Sequence[ExternCall] = (),
    ) -> None:
        self.__name__ = name
        self._outputs = tuple(outputs)
        self._notes = notes or {}  # of parameters: what a call must know that the program does not
        self._program = program
        self.externs = tuple(externs)
        self.location = location
        self.seconds = seconds  # how long each phase took

    @property
    def program(self) -> Any:
        """The program, for an engine: it has no calls of functions that are in no library."""
        for call in self.externs:
            raise LanguageError(
                f"'T.call_extern': the function '{call.name}' is not supported: functions in CUDA "
                "source text cannot run here",
                hint="write it in the language",
                location=call.location,
            )
        return self._program

    def with_externs(self, externs: Sequence[ExternCall]) -> PrimFunc:
        """The same function with only these calls of functions that are in no library."""
        notes, outputs = self._notes, self._outputs
        return PrimFunc(
            self.__name__, self._program, self.location, self.seconds, notes, outputs, externs
        )

    @property
    def body(self) -> PrimFunc:
        """The statements, for `tvm.tirx.stmt_functor`."""
        return self

    ret_type = None

    @cached_property
    def params(self) -> list[KernelParam]:
        """The parameters, with their names, dtypes and shapes."""
        found = [KernelParam.of(parameter) for parameter in self._program.params]
        for parameter in found:
            parameter.update(self._notes.get(parameter.name, {}))
        return found

    @property
    def buffer_map(self) -> dict[KernelParam, KernelParam]:
        """For each parameter that is a tensor what describes it: `shape`, `dtype` and `name`."""
        tensors = [parameter for parameter in self.params if not parameter.is_scalar()]
        return {parameter: parameter for parameter in tensors if "pointed" not in parameter}

    @property
    def out_idx(self) -> list[int] | None:
        """The tensors of `T.empty` that the function returns, counted from the end."""
        names = [parameter.name for parameter in self.params]
        return [names.index(name) - len(names) for name in self._outputs] or None

    @property
    def attrs(self) -> dict[str, Any]:
        """The name of the function and what it returns, as TVM and TileLang keep them."""
        returned = {"tilelang_out_idx": self.out_idx} if self.out_idx else {}
        return {"global_symbol": self.__name__, **returned}

    def script(self) -> str:
        """The tile IR as text."""
        return self._program.text()

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return f"<prim_func {self.__name__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if trace.active() is not None:
            raise LanguageError(
                f"the prim_func '{self.__name__}' cannot be called from a kernel",
                hint="make it a @T.macro to inline it",
            )
        raise TilewrightError(
            f"the prim_func '{self.__name__}' is not compiled; "
            f"call tilewright.compile({self.__name__}) and call the result",
            caller_location(),
        )


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Python's collector of cycles looks at all objects again and again while syntax trees and
    traces grow: half of the time for 2,000 statements. Another thread's trace may end first and
    wake it, which costs time only."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def trace_prim_func(function: Any, enclosing: dict[str, Any]) -> PrimFunc:
    """Traces `function` into a verified program. `enclosing` are the locals of its definition."""
    if not isinstance(function, FunctionType):
        raise LanguageError(f"'T.prim_func' expects a function, got {trace.describe(function)}")
    with _collector_at_rest():
        return _trace(function, enclosing)


def _trace(function: FunctionType, enclosing: dict[str, Any]) -> PrimFunc:
    watch = Stopwatch()
    code = function.__code__
    node = function_node(function)
    location = location_of(code.co_filename, node)
    declared = declared_in_body(node)
    is_eager = bool(declared) or _returns_tensors(node)
    twin = twin_of(function, "eager" if is_eager else "prim_func")
    watch.lap("rewrite")
    state = TraceState(function.__name__, code.co_filename, node.lineno)
    outputs: list[str] = []
    if is_eager:
        from tilewright.frontend.eager import Declarations

        state.eager = Declarations(dict.fromkeys(declared), {})
        state.eager.restart()

    def body() -> Any:
        state.core.locate(code.co_filename, node.lineno, node.col_offset + 1)
        arguments = _parameters(state, function, node, enclosing, declared)
        result = twin(**arguments)
        if is_eager:
            outputs.extend(state.eager.returned(function.__name__, result, location))
            _check_order(state, node, declared)
        if not state.kernels:
            raise LanguageError(
                f"'{function.__name__}' launches no kernel",
                hint="open one: 'with T.Kernel(blocks, threads=128) as bx:'",
                location=location,
            )
        watch.lap("trace")
        state.core.locate(code.co_filename, node.lineno, node.col_offset + 1)
        program = state.core.finish(trace.per_thread.fast_math)
        program.check()
        watch.lap("verify")
        return program

    program = run_trace(state, body)
    notes = state.parameter_notes
    return PrimFunc(
        function.__name__, program, location, watch.seconds, notes, outputs, state.externs
    )


# A tuner traces one function with many parameters; its tree stays the same.
@lru_cache(maxsize=1024)
def declared_in_body(node: ast.FunctionDef) -> tuple[str, ...]:
    """The parameters that the body declares as tensors (`A: T.Tensor[...]`), by the signature."""
    declared = {
        part.target.id
        for part in ast.walk(node)
        if isinstance(part, ast.AnnAssign)
        and part.value is None
        and isinstance(part.target, ast.Name)
    }
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return tuple(argument.arg for argument in arguments if argument.arg in declared)


@lru_cache(maxsize=1024)
def _returns_tensors(node: ast.FunctionDef) -> bool:
    """The function makes tensors with `T.empty`, which it returns."""
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute | ast.Name)
        and (part.func.attr if isinstance(part.func, ast.Attribute) else part.func.id) == "empty"
        for part in ast.walk(node)
    )


def _check_order(state: TraceState, node: ast.FunctionDef, declared: tuple[str, ...]) -> None:
    """Calls pass arguments by the signature, so the body declares them in its order."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    wanted = [argument.arg for argument in arguments]
    found = [name for name in state.eager.order if name in declared]
    typed = [name for name in wanted if name not in declared]
    if typed + found != wanted:
        raise LanguageError(
            f"the body declares the parameters of '{node.name}' in another order than its "
            f"signature: {', '.join(typed + found)}"
        )


class Stopwatch:
    """How long the phases of a compilation take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        """The phase that ends here."""
        now = time.perf_counter()
        self.seconds[phase], self._last = now - self._last, now


def _parameters(
    state: TraceState,
    function: FunctionType,
    node: Any,
    enclosing: dict[str, Any],
    declared: tuple[str, ...],
) -> dict[str, Any]:
    annotations = annotations_of(function, enclosing)
    arguments: dict[str, Any] = {}
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        name, location = argument.arg, location_of(function.__code__.co_filename, argument)
        if name in declared:
            arguments[name] = None  # until the body declares it
            continue
        state.core.locate(location.file, location.line, location.column)
        if name not in annotations:
            raise LanguageError(
                f"parameter '{name}' has no type",
                hint=f"write '{name}: T.Tensor((M, N), \"float16\")' or '{name}: T.int32'",
                location=location,
            )
        try:
            arguments[name] = declare_parameter(state, name, annotations[name])
        except (LanguageError, core.TraceError) as error:
            message = getattr(error, "message", str(error))
            raise LanguageError(f"parameter '{name}': {message}", location=location) from None
    return arguments


#: Declare parameters of types that the language adds, which lies above; None for other types.
_declarers: list[Callable[[TraceState, str, Any], Any]] = []


def add_declarer(declarer: Callable[[TraceState, str, Any], Any]) -> None:
    """Lets `declarer(state, name, annotation)` declare parameters of a type of its own."""
    _declarers.append(declarer)


def declare_parameter(state: TraceState, name: str, annotation: Any) -> Any:
    """The kernel value of a parameter with this annotation."""
    for declarer in _declarers:
        value = declarer(state, name, annotation)
        if value is not None:
            return value
    if isinstance(annotation, TensorType):
        strides = [list(s) for s in (getattr(annotation, "strides", ()),) if s]
        return state.core.param_tensor(
            name, list(annotation.shape), str(annotation.dtype), *strides
        )
    if is_dtype(annotation):
        scalar = state.core.param_scalar(name, str(canonical(annotation)))
        state.scalar_parameters[id(scalar)] = scalar, name
        return scalar
    raise LanguageError(
        f"expected T.Tensor(...) or a dtype such as T.int32 as its type, got {annotation!r}"
    )
