"""`T.prim_func` and `T.macro`: functions that are traced."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType
from typing import Any

from tilewright._core import core
from tilewright.dtypes import canonical, is_dtype
from tilewright.errors import (
    LanguageError,
    Note,
    Place,
    TilewrightError,
    convert,
    debugging,
    internal,
    is_ours,
    place_of_instruction,
    user_places,
)
from tilewright.frontend import trace
from tilewright.frontend.hooks import Hooks
from tilewright.frontend.rewrite import rewrite_function
from tilewright.frontend.rewrite_expr import HOOKS
from tilewright.frontend.source import function_node, place_of
from tilewright.frontend.trace import Element, TraceState, Var
from tilewright.tensor_type import TensorType

_rewritten: dict[tuple[CodeType, str], tuple[CodeType, Hooks]] = {}
_rewritten_codes: set[CodeType] = set()
_MACRO_DEPTH = 32
_fast_math = False


@contextmanager
def fast_math(allowed: bool) -> Iterator[None]:
    """Functions traced inside may use approximate functions and contraction."""
    global _fast_math
    previous, _fast_math = _fast_math, allowed
    try:
        yield
    finally:
        _fast_math = previous


def traceable(function: FunctionType, kind: str) -> FunctionType:
    """The rewritten twin of `function`, with the same globals, closure and defaults."""
    key = (function.__code__, kind)
    if key not in _rewritten:
        node = function_node(function)
        free = function.__code__.co_freevars
        _rewritten[key] = rewrite_function(node, function.__code__.co_filename, kind, free)
        _rewritten_codes.add(_rewritten[key][0])
    code, hooks = _rewritten[key]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[HOOKS] = CellType(hooks)
    closure = tuple(cells[name] for name in code.co_freevars)
    twin = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


# ---- Running a trace, and what can go wrong in it ----


def run_trace(state: TraceState, body: Callable[[], Any]) -> Any:
    """Runs `body` as a trace. Mistakes in kernel code leave as reports."""
    previous = trace.begin(state)
    try:
        return body()
    except TilewrightError:
        raise
    except Exception as error:
        report = explain(state, error)
        if report is None:
            raise
        if debugging():
            raise report from error
    finally:
        trace.finish(state, previous)
    raise report.with_traceback(None) from None


def _kernel_frames(error: Exception) -> int:
    """How many of the user's frames, innermost first, lie inside the traced function."""
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename):
            frames.append(code)
        traceback = traceback.tb_next
    for position, code in enumerate(frames):
        if code in _rewritten_codes:
            return len(frames) - position
    return len(frames)


def explain(state: TraceState, error: Exception) -> TilewrightError | None:
    """The report for an exception out of a trace, or None if it is the user's own."""
    if isinstance(error, LanguageError | core.TraceError):
        return convert(error, _kernel_frames(error))
    if isinstance(error, core.InternalError):
        return internal(error)
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    code = innermost.tb_frame.f_code if innermost is not None else None
    if code is not None and is_ours(code.co_filename):
        return _explain_inside(error)
    if code not in _rewritten_codes:
        return None
    place = place_of_instruction(code, innermost.tb_lasti)
    callers = user_places(error.__traceback__)[1 : _kernel_frames(error)]
    notes = [Note(caller, "called from here") for caller in callers]
    message = _explain_direct(state, error)
    return TilewrightError(message, place, notes) if message else None


def _explain_inside(error: Exception) -> TilewrightError:
    if isinstance(error, RecursionError):
        return TilewrightError("the kernel calls itself without end", None)
    return internal(error)


_UNBOUND_LOCAL = re.compile(r"variable '([^']+)'")


def _explain_direct(state: TraceState, error: Exception) -> str | None:
    """A message for an exception that an instruction of the kernel itself raised."""
    if isinstance(error, NameError):
        found = _UNBOUND_LOCAL.search(str(error))
        if isinstance(error, UnboundLocalError) and found:
            name = found.group(1)
            return state.lost.get(name, f"'{name}' is used before it has a value")
        return str(error)
    if isinstance(error, RecursionError):
        return "the kernel calls itself without end"
    if isinstance(
        error, TypeError | AttributeError | LookupError | ArithmeticError | ValueError | ImportError
    ):
        return _python_message(error)
    return None


def _python_message(error: Exception) -> str:
    text = str(error).replace("_tilewright_core.", "")
    if isinstance(error, TypeError):
        text = re.sub(r"unsupported operand type\(s\) for", "these operands have no", text)
    if isinstance(error, KeyError):
        text = f"key {text} not found"
    return text or type(error).__name__


# ---- prim_func ----


class PrimFunc:
    """A traced function: a host function that holds one or more kernels."""

    def __init__(self, name: str, program: Any, place: Place) -> None:
        self.__name__ = name
        self.program = program
        self.place = place

    @property
    def params(self) -> list[dict[str, Any]]:
        """The parameters: dicts with name, kind ("tensor" or "scalar"), dtype and shape."""
        return self.program.params

    def script(self) -> str:
        """The tile IR as text."""
        return self.program.text()

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
            "call tilewright.compile(function) and call the result",
            self.place,
        )


def trace_prim_func(function: Any, enclosing: dict[str, Any]) -> PrimFunc:
    """Traces `function` into a verified program. `enclosing` are the locals of its definition."""
    if not isinstance(function, FunctionType):
        raise LanguageError(f"'T.prim_func' expects a function, got {trace.describe(function)}")
    code = function.__code__
    node = function_node(function)
    place = place_of(code.co_filename, node)
    twin = traceable(function, "prim_func")
    state = TraceState(function.__name__, code.co_filename, node.lineno)

    def body() -> Any:
        state.core.locate(code.co_filename, node.lineno, node.col_offset + 1)
        arguments = _parameters(state, function, node, enclosing)
        twin(**arguments)
        if not state.kernels:
            raise LanguageError(
                f"'{function.__name__}' launches no kernel",
                hint="open one: 'with T.Kernel(blocks, threads=128) as bx:'",
                place=place,
            )
        program = state.core.finish(_fast_math)
        program.check()
        return program

    return PrimFunc(function.__name__, run_trace(state, body), place)


def _parameters(
    state: TraceState, function: FunctionType, node: Any, enclosing: dict[str, Any]
) -> dict[str, Any]:
    annotations = _annotations(function, enclosing)
    arguments: dict[str, Any] = {}
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        name, place = argument.arg, place_of(function.__code__.co_filename, argument)
        state.core.locate(place.file, place.line, place.column)
        if name not in annotations:
            raise LanguageError(
                f"parameter '{name}' has no type",
                hint=f"write '{name}: T.Tensor((M, N), \"float16\")' or '{name}: T.int32'",
                place=place,
            )
        try:
            arguments[name] = declare_parameter(state, name, annotations[name])
        except (LanguageError, core.TraceError) as error:
            message = getattr(error, "message", str(error))
            raise LanguageError(f"parameter '{name}': {message}", place=place) from None
    return arguments


def declare_parameter(state: TraceState, name: str, annotation: Any) -> Any:
    """The kernel value of a parameter with this annotation."""
    if isinstance(annotation, TensorType):
        return state.core.param_tensor(name, list(annotation.shape), str(annotation.dtype))
    if is_dtype(annotation):
        return state.core.param_scalar(name, str(canonical(annotation)))
    raise LanguageError(
        f"expected T.Tensor(...) or a dtype such as T.int32 as its type, got {annotation!r}"
    )


def _annotations(function: FunctionType, enclosing: dict[str, Any]) -> dict[str, Any]:
    """Annotations as values; texts (from __future__ import annotations) are evaluated."""
    names = function.__code__.co_freevars
    cells = zip(names, function.__closure__ or (), strict=True)
    scope = {**enclosing, **{name: cell.cell_contents for name, cell in cells if _is_full(cell)}}
    return {
        name: eval(value, function.__globals__, scope) if isinstance(value, str) else value
        for name, value in function.__annotations__.items()
    }


def _is_full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def enclosing_locals() -> dict[str, Any]:
    """The locals of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return dict(frame.f_locals) if frame is not None else {}


# ---- macro ----


class Ref:
    """`T.Ref`: the annotation of a macro parameter that may be assigned (a variable or element)."""

    def __class_getitem__(cls, item: Any) -> type[Ref]:
        return cls


class Macro:
    """A function that is inlined into the kernel at each call, with names of its own."""

    def __init__(self, function: FunctionType, enclosing: dict[str, Any]) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._signature = inspect.signature(function)
        self._enclosing = enclosing
        self._function = function
        self._twin: FunctionType | None = None
        self._references: set[str] | None = None

    def __repr__(self) -> str:
        return f"<macro {self.__name__}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A macro in a class is a method."""
        if instance is None:
            return self
        return lambda *args, **kwargs: self(instance, *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state = trace.active()
        if state is None:
            raise TilewrightError(
                f"the macro '{self.__name__}' is called outside a kernel", _calling_place()
            )
        if self._twin is None:
            self._twin = traceable(self._function, "macro")
            annotations = _annotations(self._function, self._enclosing)
            self._references = {name for name, kind in annotations.items() if kind is Ref}
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LanguageError(f"macro '{self.__name__}': {error}") from None
        if state.calls.count(self) >= _MACRO_DEPTH:
            raise LanguageError(
                f"the macro '{self.__name__}' calls itself without end",
                hint="a macro is inlined: its recursion must be decided by Python values",
            )
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._argument(state, name, value)
        state.calls.append(self)
        state.core.push_call()
        try:
            return self._twin(*bound.args, **bound.kwargs)
        finally:
            state.core.pop_call()
            state.calls.pop()

    def _argument(self, state: TraceState, name: str, value: Any) -> Any:
        """Scalars pass by value, as in Python; T.Ref parameters are the caller's variable."""
        if name in (self._references or ()):
            if type(value) not in (Var, Element):
                raise LanguageError(
                    f"'{name}' is a T.Ref parameter and needs a variable or an element, got "
                    f"{trace.describe(value)}"
                )
            state.bound_vars[id(value)] = value
            return value
        return value.load() if type(value) in (Var, Element) else value


def _calling_place() -> Place | None:
    frame = sys._getframe(2)
    return place_of_instruction(frame.f_code, frame.f_lasti)
