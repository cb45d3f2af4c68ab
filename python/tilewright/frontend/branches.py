"""`if` in a kernel: a Python value picks a branch while tracing, a kernel value builds both."""

from __future__ import annotations

import sys
from typing import Any

from tilewright.frontend.trace import (
    UNBOUND,
    TraceState,
    Var,
    describe,
    is_scalar,
)
from tilewright.support.errors import LanguageError

__tracebackhide__ = True  # pytest shows the user's frames


class PythonBranch:
    """An `if` that Python decides. Two instances serve all."""

    __slots__ = ("_taken",)
    lost = False
    rebinding = False
    values = ()

    def __init__(self, taken: bool) -> None:
        self._taken = taken

    def then(self) -> bool:
        return self._taken

    def otherwise(self) -> bool:
        return not self._taken

    def finish(self) -> bool:
        return False


TAKEN, SKIPPED = PythonBranch(True), PythonBranch(False)


def snapshot(frame: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of local names of a frame that runs rewritten code."""
    local = frame.f_locals
    return {name: local.get(name, UNBOUND) for name in names}


class NamedBranch:
    """A branch that is written with a name, `with T.If(c):`, not as `if c:`."""

    def __init__(self, condition: Any) -> None:
        self.condition = condition


class TracedBranch:
    """An `if` on a kernel value: both branches are traced, names they assign are merged.

    Rewritten code asks `then()`, `otherwise()`, `finish()` in this order, and after each of the
    last two assigns `values` to the names (and unbinds those that are UNBOUND, if any is `lost`).
    """

    def __init__(
        self,
        state: TraceState,
        condition: Any,
        entry: dict[str, Any],
        live: tuple[str, ...],
        line: int,
    ) -> None:
        self._state = state
        self._names = tuple(entry)
        self._live = live
        self._line = line
        self._entry = entry  # the values of the names that the branches assign
        self._then: dict[str, Any] | None = None
        self._region = state.open("if", line)
        self.rebinding = True
        self.lost = False
        self.values: tuple[Any, ...] = ()
        state.core.if_begin(condition)

    def then(self) -> bool:
        return True

    def otherwise(self) -> bool:
        """Turns to the else region, where names have the values from before the `if` again."""
        self._then = snapshot(sys._getframe(1), self._names) if self._names else {}
        self._state.core.else_begin()
        self._rebind([self._entry[name] for name in self._names])
        return True

    def finish(self) -> bool:
        """Merges what the branches assigned; true if names must be rebound."""
        return self.finish_in(sys._getframe(1))

    def finish_in(self, frame: Any) -> bool:
        """`finish` for the names of `frame`."""
        now = snapshot(frame, self._names) if self._names else {}
        had_else = self._then is not None
        then = self._then if had_else else now
        other = now if had_else else self._entry
        merged = {name: self._merge_plan(name, then[name], other[name]) for name in self._names}
        phis = [(n, then[n], other[n]) for n, plan in merged.items() if plan is _PHI]
        if phis and not had_else:
            self._state.core.else_begin()
        variables = self._state.core.if_merge(phis) if phis else []
        self._state.close(self._region)
        for (name, _, _), variable in zip(phis, variables, strict=True):
            merged[name] = variable.load() if type(variable) is Var else variable
        self._rebind([merged[name] for name in self._names])
        return bool(self._names)

    def _rebind(self, values: list[Any]) -> None:
        self.values = tuple(values)
        self.lost = any(value is UNBOUND for value in values)

    def _merge_plan(self, name: str, then: Any, other: Any) -> Any:
        """The value of `name` after the `if`, or _PHI if a variable must choose."""
        if then is other:
            return then
        if name not in self._live:
            return self._entry[name]
        if then is UNBOUND or other is UNBOUND:
            self._state.lost[name] = (
                f"'{name}' has a value only when the 'if' at line {self._line} goes one way; "
                "give it a value before the 'if' or in both branches"
            )
            return UNBOUND
        if type(then) is type(other) and type(then) in (int, float, bool, str) and then == other:
            return then
        if is_scalar(then) and is_scalar(other):
            return _PHI
        self._state.lost[name] = (
            f"'{name}' is {describe(then)} after one branch of the 'if' at line {self._line} and "
            f"{describe(other)} after the other; only scalars can be chosen at run time"
        )
        return UNBOUND


_PHI = object()


def refuse_raise(state: TraceState | None) -> None:
    """`raise` under a run-time condition cannot be traced."""
    if state is None:
        return
    for region in state.regions:
        if region.kind != "kernel":
            raise LanguageError(
                "'raise' under a run-time condition: a kernel cannot raise",
                hint="use T.device_assert(condition, message)",
            )
