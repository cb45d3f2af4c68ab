"""`for` and `while` in a kernel.

A loop over `T.serial`, `T.Parallel`, …, or a plain `range`, is traced: its body runs once, inside a
region. A loop over any other iterable is Python's: its body runs once an item.

Names that a traced loop assigns and that live longer than an iteration are carried (carried.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from tilewright.frontend.branches import TracedBranch, snapshot
from tilewright.frontend.carried import Carried, LoopInfo, load_all
from tilewright.frontend.tile_loops import SerialLoop, TileLoop
from tilewright.frontend.trace import (
    UNBOUND,
    TraceState,
    dtype_of,
    is_kernel_value,
)
from tilewright.support.errors import LanguageError

__tracebackhide__ = True  # pytest shows the user's frames

_CAN_BREAK = ("serial", "unroll", "grid", "while")
_MANY = 100_000
_HINT = "loops that Python runs are unrolled; use T.serial or a condition known at run time"


class Loop:
    """What all loops share: names to rebind, and the flags of `break` and `continue`.

    Rewritten code assigns `values` to the names where `rebinding` or `finish()` says so.
    """

    def __init__(self, state: TraceState, info: LoopInfo, frame: Any) -> None:
        self._state = state
        self._info = info
        self._frame = frame
        self._base = len(state.regions)
        self.rebinding = False
        self.lost = False
        self.values: tuple[Any, ...] = ()
        self.break_flag: Any = None
        self.continue_flag: Any = None
        self.skips = False
        self._broken = False

    kind = "python"

    def _rebind(self, values: list[Any]) -> None:
        self.rebinding = True
        self.values = tuple(values)
        self.lost = any(value is UNBOUND for value in values)

    def _nested(self) -> Any:
        """The outermost region opened inside the current iteration, if any."""
        regions = self._state.regions
        return regions[self._base] if len(regions) > self._base else None

    def _new_flag(self, name: str) -> Any:
        return self._state.core.alloc_var_outside(self._nested().depth, "bool", False, name)

    def continues(self) -> bool:
        """`continue`: true if Python may really continue."""
        if self._nested() is None:
            return True
        if self.continue_flag is None:
            self.continue_flag = self._new_flag("continued")
        self.continue_flag.store(True)
        return False

    def breaks(self) -> bool:
        """`break`: true if Python may really leave its loop."""
        raise NotImplementedError

    def stop_after_return(self) -> None:
        """A `return` inside the loop was taken at run time: no further iteration may start."""
        raise NotImplementedError

    def completed(self) -> Any:
        """The condition of the loop's `else`: it was not left by `break`."""
        if self.break_flag is not None:
            return self._state.core.unary("not", self.break_flag.load())
        return not self._broken

    def finish(self) -> bool:
        """After the loop: true if names must be rebound."""
        self._frame = None  # no cycle from the frame to itself
        return self.rebinding


class PythonFor(Loop):
    """A loop over an ordinary iterable, unrolled while tracing."""

    def __init__(self, state: TraceState, info: LoopInfo, frame: Any, items: Any) -> None:
        super().__init__(state, info, frame)
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        info = self._info
        live = tuple(info.live_in | info.live_after)
        for count, item in enumerate(self._items):
            if count >= _MANY:
                raise LanguageError(f"this loop of Python ran {_MANY} times", hint=_HINT)
            guard = None
            self.continue_flag = None
            self._base = len(self._state.regions)
            if self.break_flag is not None:
                condition = self._state.core.unary("not", self.break_flag.load())
                # What the last guard merged is assigned to the names only when the body starts.
                entry = snapshot(self._frame, info.names)
                if self.rebinding:
                    entry = dict(zip(info.names, self.values, strict=True))
                guard = TracedBranch(self._state, condition, entry, live, info.line)
                self._base = len(self._state.regions)
            yield item
            self.rebinding = False
            if guard is not None:
                guard.finish_in(self._frame)
                self._rebind(list(guard.values))

    def breaks(self) -> bool:
        if self._nested() is None:
            if self.break_flag is None:
                self._broken = True
                return True
            # An earlier iteration may have been left at run time: this one ends for all others.
            self.break_flag.store(True)
            self.skips = True
            return False
        if self.break_flag is None:
            self.break_flag = self._new_flag("broken")
        self.break_flag.store(True)
        self.skips = False
        return False

    def stop_after_return(self) -> None:
        if self._nested() is None and self.break_flag is None:
            # Nothing is open between this loop and the `return`: the flag can stand right here.
            self.break_flag = self._state.core.alloc_var("bool", True, "broken")
        else:
            self.breaks()


class TracedFor(Loop):
    """A loop of the language: its body is traced once."""

    def __init__(self, state: TraceState, info: LoopInfo, frame: Any, loop: Any) -> None:
        super().__init__(state, info, frame)
        self._loop = loop
        self.kind = loop.kind

    def __iter__(self) -> Iterator[Any]:
        if self.kind == "parallel":
            yield from self._iterate_parallel()
        else:
            yield from self._iterate_serial()

    def _iterate_serial(self) -> Iterator[Any]:
        state, info = self._state, self._info
        carried = Carried(state, info, snapshot(self._frame, info.names)) if info.names else None
        if carried is not None:
            self._rebind(carried.open())
        guarded = info.has_exit and self.kind in _CAN_BREAK
        if guarded:
            self.break_flag = state.core.alloc_var("bool", False, "broken")
        outer = len(state.regions)
        item = self._loop.open(state, info.line)
        depth = state.regions[outer].depth
        if guarded:
            state.open("if", info.line)
            state.core.if_begin(state.core.unary("not", self.break_flag.load()))
        self._base = len(state.regions)
        yield item
        after = []
        if carried is not None:
            after = carried.close_iteration(self._frame, depth, self._loop.runs_at_least_once())
        while len(state.regions) > outer:
            state.close(state.regions[-1])
        self._rebind(load_all(after))

    def _iterate_parallel(self) -> Iterator[Any]:
        state, info = self._state, self._info
        entry = snapshot(self._frame, info.names)
        outer = len(state.regions)
        # A name that an outer loop carries is a plain value here: iterations share nothing.
        inside = {n: v.load() if id(v) in state.auto_vars else v for n, v in entry.items()}
        if info.names:
            self._rebind(list(inside.values()))
        item = self._loop.open(state, info.line)
        self._base = len(state.regions)
        yield item
        now = snapshot(self._frame, info.names)
        for name in info.names:
            if state.hidden.get(name) is entry[name]:
                del state.hidden[name]
                continue
            changed = now[name] is not inside[name]
            if changed and entry[name] is not UNBOUND and name in info.live_in - info.targets:
                raise LanguageError(
                    f"'{name}' is carried from one iteration of T.Parallel to the next, but its "
                    "iterations are independent",
                    hint="use T.reduce_sum, T.atomic_add or a T.serial loop",
                    location=info.locations.get(name),
                )
            if changed and name in info.live_after:
                state.lost[name] = (
                    f"'{name}' is bound inside the T.Parallel loop at line {info.line}, whose "
                    "iterations have no last one; store it into a tile to use it after the loop"
                )
                entry[name] = UNBOUND
        while len(state.regions) > outer:
            state.close(state.regions[-1])
        if info.names:
            self._rebind([entry[name] for name in info.names])

    def breaks(self) -> bool:
        if self.break_flag is None:
            raise LanguageError(
                f"'break' inside {self._loop.name}",
                hint="only T.serial, T.unroll and while loops can be left early",
            )
        self.break_flag.store(True)
        self.skips = self._nested() is None
        return False

    def stop_after_return(self) -> None:
        if self.break_flag is not None:
            self.break_flag.store(True)


class While(Loop):
    """A `while` loop. Its condition is evaluated once to see whether Python can decide it.

    A loop with `break` or `return` inside is always traced: Python cannot know when it ends.
    """

    kind = "while"

    def __init__(self, state: TraceState, info: LoopInfo, frame: Any) -> None:
        super().__init__(state, info, frame)
        self._phase = "trace" if info.has_exit else "probe"
        self._rounds = 0
        self._carried: Carried | None = None
        self._entry = snapshot(frame, info.names)
        self._region: Any = None
        self._traced = False

    def next(self) -> bool:
        """Before each evaluation of the condition; false when the loop is over."""
        state = self._state
        if self._phase == "done":
            if self._traced:
                self._close()
            return False
        self.rebinding = False
        self.continue_flag = None
        if self._phase == "probe":
            self._rounds += 1
            if self._rounds > _MANY:
                raise LanguageError(
                    f"this 'while' ran {_MANY} times while tracing: Python decides its condition",
                    hint=_HINT,
                )
            self._entry = snapshot(self._frame, self._info.names)
            state.core.while_begin()
            return True
        self._open()
        return True

    def _open(self) -> None:
        state, info = self._state, self._info
        # From before the probe: a walrus in the condition must not act twice.
        self._carried = Carried(state, info, self._entry)
        self._rebind(self._carried.open())
        if info.has_exit:
            self.break_flag = state.core.alloc_var("bool", False, "broken")
        self._region = state.open("while", info.line)
        state.core.while_begin()
        if info.has_exit:
            state.core.select_begin(state.core.unary("not", self.break_flag.load()))
        self._traced = True

    def test(self, condition: Any) -> bool:
        """Takes the condition; true if the body is to run now."""
        state = self._state
        if self._phase == "probe":
            if not is_kernel_value(condition):
                state.core.while_cancel(True)
                self._base = len(state.regions)
                if not condition:
                    self._phase = "done"
                return bool(condition)
            state.core.while_cancel(False)
            self._phase = "trace"
            return False
        if self._info.has_exit:
            state.core.select_else(truth(state, condition))
            condition = state.core.select_end(False)
        state.core.while_body(truth(state, condition))
        self._base = len(state.regions)
        self._phase = "done"
        return True

    def _close(self) -> None:
        after = self._carried.close_iteration(self._frame, self._region.depth, False)
        self._state.close(self._region)
        self._traced = False
        self._rebind(load_all(after))

    def breaks(self) -> bool:
        self.break_flag.store(True)
        self.skips = self._nested() is None
        return False

    def stop_after_return(self) -> None:
        self.breaks()


def truth(state: TraceState, value: Any) -> Any:
    """`value` as a condition: Python's truth of a number is "not zero"."""
    if type(value) is bool:
        return state.core.constant(value, "bool")
    if dtype_of(value) == "bool":
        return value
    return state.core.binary("ne", value, 0)


def start_for(state: TraceState | None, iterable: Any, info: LoopInfo) -> Any:
    """The loop object for `for … in iterable` of the frame that called the hook."""
    frame = sys._getframe(2)
    if state is None:
        raise LanguageError("kernel code runs outside a trace")
    if type(iterable) is range:
        iterable = SerialLoop("range", iterable.start, iterable.stop, iterable.step)
    if isinstance(iterable, SerialLoop) and state.innermost(("kernel",)) is None:
        # A loop of the host around kernels: each launch is one of its own.
        if all(type(bound) is int for bound in (iterable.start, iterable.stop, iterable.step)):
            values = range(iterable.start, iterable.stop, iterable.step)
            return PythonFor(state, info, frame, values)
    if isinstance(iterable, TileLoop):
        return TracedFor(state, info, frame, iterable)
    return PythonFor(state, info, frame, iterable)
