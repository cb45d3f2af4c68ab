"""Names that live longer than an iteration of a traced loop.

Before the loop they become variables, inside it assignments store into them, after it they are
values again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tilewright.frontend.branches import snapshot
from tilewright.frontend.trace import (
    UNBOUND,
    TraceState,
    Var,
    describe,
    dtype_of,
    is_scalar,
    keeps_value,
)
from tilewright.support.errors import LanguageError, Location

__tracebackhide__ = True  # pytest shows the user's frames


class LoopInfo(NamedTuple):
    """What the syntax says about a loop."""

    line: int
    names: tuple[str, ...]  # assigned in the loop, loop variables included
    targets: frozenset[str]  # the loop variables
    live_in: frozenset[str]  # needed at the start of an iteration
    live_after: frozenset[str]  # needed after the loop
    has_exit: bool  # contains `break` or `return`
    locations: dict[str, Location]  # where each name is assigned first


class LoadAfter(NamedTuple):
    """A name whose value after the loop is what a variable holds then."""

    variable: Any


class Carried:
    """The carried names of one traced loop."""

    def __init__(self, state: TraceState, info: LoopInfo, entry: dict[str, Any]) -> None:
        self._state = state
        self._info = info
        self._entry = entry  # the values of the names before the loop
        self._variables: dict[str, Any] = {}

    def open(self) -> list[Any]:
        """Makes variables, before the loop; the values of the names inside it."""
        info = self._info
        inside = []
        for name in info.names:
            value = self._entry[name]
            wanted = name in info.live_in or name in info.live_after
            if wanted and name not in info.targets and is_scalar(value) and type(value) is not Var:
                variable = self._state.core.alloc_var(dtype_of(value), value, name)
                self._state.bound_vars[id(variable)] = variable
                self._state.auto_vars[id(variable)] = (variable, describe(value))
                self._variables[name] = value = variable
            inside.append(value)
        return inside

    def close_iteration(self, frame: Any, depth: int, certain: bool) -> list[Any]:
        """Stores what must survive, at the end of the body; the values after the loop.

        `depth` is the loop's own; `certain` says that the body runs at least once.
        """
        now = snapshot(frame, self._info.names)
        return [self._after(name, now[name], depth, certain) for name in self._info.names]

    def _after(self, name: str, value: Any, depth: int, certain: bool) -> Any:
        info, entry = self._info, self._entry[name]
        if name in self._variables:
            variable = self._variables[name]
            if value is not variable:
                store_checked(self._state, variable, value, name, info.locations.get(name))
            return LoadAfter(variable)
        if self._state.hidden.get(name) is entry:
            return self._state.hidden.pop(name)
        if value is entry or (name not in info.live_after and name not in info.live_in):
            return entry
        if name in info.targets:
            self._state.lost[name] = (
                f"'{name}' is the variable of the loop at line {info.line}: no value after it"
            )
            return UNBOUND
        if entry is not UNBOUND and name in info.live_in:
            raise LanguageError(
                f"the loop at line {info.line} changes '{name}' from {describe(entry)} to "
                f"{describe(value)}; only scalars can change from one iteration to the next",
                location=info.locations.get(name),
            )
        if name not in info.live_after:
            return entry
        if not is_scalar(value):
            self._state.lost[name] = (
                f"'{name}' is bound inside the loop at line {info.line}; "
                "bind it before the loop to use it after"
            )
            return UNBOUND
        if certain and type(value) in (int, float, bool):
            return value
        variable = self._state.core.alloc_var_outside(depth, dtype_of(value), None, name)
        variable.store(value)
        return LoadAfter(variable)


def load_all(values: list[Any]) -> list[Any]:
    """`values` with the variables that the loop made replaced by what they hold now."""
    return [v.variable.load() if type(v) is LoadAfter else v for v in values]


def store_checked(
    state: TraceState, variable: Any, value: Any, name: str, location: Location | None = None
) -> None:
    """Stores into a variable; one that stands for a plain name must not lose anything."""
    known = state.auto_vars.get(id(variable))
    if known is not None:
        if not is_scalar(value):
            raise LanguageError(
                f"'{name}' is carried by a loop as a scalar and cannot become {describe(value)}",
                location=location,
            )
        if not keeps_value(variable.dtype_name, value):
            raise LanguageError(
                f"'{name}' starts as {known[1]} and becomes {describe(value)} in a loop",
                hint=f"start it with the type it needs, for example '{name} = "
                f"T.{dtype_of(value) if dtype_of(value) != 'index' else 'int64'}(...)'",
            )
    variable.store(value)
