"""`T.macro`: functions that are inlined into a kernel."""

from __future__ import annotations

import inspect
import sys
from types import FunctionType
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.trace import Element, TraceState, Var
from tilewright.frontend.twins import annotations_of, twin_of
from tilewright.support.errors import (
    LanguageError,
    Location,
    TilewrightError,
    location_of_instruction,
)

__tracebackhide__ = True  # pytest shows the user's frames

_DEEPEST = 32


class Ref:
    """`T.Ref`: the annotation of a macro parameter that may be assigned (a variable or element).

    Example:
        @T.macro
        def increment(x: T.Ref):
            x = x + 1.0

        @T.prim_func
        def main(A: T.Tensor((64,), "float32")):
            with T.Kernel(1, threads=64):
                increment(A[0])
    """

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
                f"the macro '{self.__name__}' is called outside a kernel", _calling_location()
            )
        if self._twin is None:
            self._twin = twin_of(self._function, "macro")
            annotations = annotations_of(self._function, self._enclosing)
            self._references = {name for name, kind in annotations.items() if kind is Ref}
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LanguageError(f"macro '{self.__name__}': {error}") from None
        if state.calls.count(self) >= _DEEPEST:
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


def _calling_location() -> Location | None:
    frame = sys._getframe(2)
    return location_of_instruction(frame.f_code, frame.f_lasti)
