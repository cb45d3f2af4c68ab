"""The loops of the language as objects: what `T.serial(8)` or `T.Parallel(64, 64)` gives.

They only describe a loop; a `for` statement of a kernel opens it.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import TraceState, describe, is_kernel_value
from tilewright.support.errors import LanguageError

__tracebackhide__ = True  # pytest shows the user's frames


class TileLoop:
    """A loop that is traced once. `kind` names it in the IR, `name` in messages."""

    kind = ""
    name = ""

    def open(self, state: TraceState, line: int) -> Any:
        """Opens the region; the loop variable, or a tuple of them."""
        raise NotImplementedError

    def runs_at_least_once(self) -> bool:
        """True if the bounds are Python numbers and the loop is not empty."""
        return False

    def __iter__(self) -> Any:
        raise LanguageError(
            f"'{self.name}' can only be looped over by a 'for' statement in a kernel",
            hint="a comprehension or list(...) runs while tracing; use a Python list there",
        )


def fits_int64(value: Any) -> bool:
    """False for a Python int that the compiler cannot hold."""
    return type(value) is not int or -(2**63) <= value < 2**63


def check_bound(value: Any, what: str) -> Any:
    """A loop bound: an integer of either kind."""
    if is_kernel_value(value):
        return value
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise LanguageError(f"{what} must be an integer, got {value!r}")
    number = value.__index__()
    if not fits_int64(number):
        raise LanguageError(f"{what} is {number}, which does not fit int64")
    return number


class SerialLoop(TileLoop):
    """`T.serial`, `T.unroll`, `T.vectorized` and `range`: one iteration after another."""

    def __init__(
        self, name: str, start: Any, stop: Any, step: Any = 1, kind: str = "serial"
    ) -> None:
        self.name = name
        self.kind = kind
        self.start = check_bound(start, f"the start of {name}")
        self.stop = check_bound(stop, f"the end of {name}")
        self.step = check_bound(step, f"the step of {name}")
        if self.step == 0 and isinstance(self.step, int):
            raise LanguageError(f"the step of {name} must not be 0")

    @classmethod
    def from_bounds(cls, name: str, bounds: tuple[Any, ...], kind: str = "serial") -> SerialLoop:
        """From `range`'s one, two or three numbers."""
        if not 1 <= len(bounds) <= 3:
            raise LanguageError(f"{name} takes 1 to 3 bounds, got {len(bounds)}")
        start, stop = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
        return cls(name, start, stop, bounds[2] if len(bounds) == 3 else 1, kind)

    def open(self, state: TraceState, line: int) -> Any:
        state.open(self.kind, line)
        return state.core.for_begin(self.start, self.stop, self.step, self.kind)

    def runs_at_least_once(self) -> bool:
        bounds = (self.start, self.stop, self.step)
        return all(isinstance(b, int) for b in bounds) and len(range(*bounds)) > 0


class GridLoop(TileLoop):
    """`T.grid`: nested serial loops, bound as one tuple of variables."""

    kind, name = "grid", "T.grid"

    def __init__(self, extents: tuple[Any, ...]) -> None:
        if not extents:
            raise LanguageError("T.grid needs at least one extent")
        self.extents = [check_bound(e, f"extent {n} of T.grid") for n, e in enumerate(extents)]

    def open(self, state: TraceState, line: int) -> Any:
        variables = []
        for extent in self.extents:
            state.open("grid", line)
            variables.append(state.core.for_begin(0, extent, 1, "serial"))
        return variables[0] if len(variables) == 1 else tuple(variables)

    def runs_at_least_once(self) -> bool:
        return all(isinstance(e, int) and e > 0 for e in self.extents)


class ParallelLoop(TileLoop):
    """`T.Parallel`: independent iterations over a box."""

    kind, name = "parallel", "T.Parallel"

    def __init__(self, extents: tuple[Any, ...], coalesced_width: Any, loop_layout: Any) -> None:
        if not extents:
            raise LanguageError("T.Parallel needs at least one extent")
        self.extents = []
        for number, extent in enumerate(extents):
            extent = check_bound(extent, f"extent {number} of T.Parallel")
            if isinstance(extent, int) and extent < 0:
                raise LanguageError(
                    f"extent {number} of T.Parallel must not be negative, got {extent}"
                )
            self.extents.append(extent)
        if is_kernel_value(coalesced_width):
            raise LanguageError("coalesced_width of T.Parallel must be a Python integer")
        if coalesced_width is not None:
            coalesced_width = check_bound(coalesced_width, "coalesced_width of T.Parallel")
        self.coalesced_width = coalesced_width
        self.loop_layout = loop_layout

    def open(self, state: TraceState, line: int) -> Any:
        if state.innermost(("kernel",)) is None:
            raise LanguageError("'T.Parallel' is only allowed inside 'with T.Kernel(...)'")
        region = state.open("parallel", line)
        variables = state.core.parallel_begin(
            self.extents, self.coalesced_width, getattr(self.loop_layout, "core", self.loop_layout)
        )
        region.variables, region.extents = tuple(variables), tuple(self.extents)
        return variables[0] if len(variables) == 1 else tuple(variables)


class PipelinedLoop(TileLoop):
    """`T.Pipelined`: a serial loop whose copies may run ahead."""

    kind, name = "pipelined", "T.Pipelined"

    def __init__(self, start: Any, stop: Any, num_stages: int, order: Any, stage: Any) -> None:
        self.start = check_bound(start, "the start of T.Pipelined")
        self.stop = check_bound(stop, "the end of T.Pipelined")
        if is_kernel_value(num_stages) or not isinstance(num_stages, int) or num_stages < 0:
            raise LanguageError(
                "num_stages of T.Pipelined must be a Python integer, 0 or more, got "
                + describe(num_stages)
            )
        self.num_stages = check_bound(num_stages, "num_stages of T.Pipelined")
        self.order = list(order) if order is not None else None
        self.stage = list(stage) if stage is not None else None

    def open(self, state: TraceState, line: int) -> Any:
        state.open("pipelined", line)
        return state.core.pipelined_begin(
            self.start, self.stop, self.num_stages, self.order, self.stage
        )

    def runs_at_least_once(self) -> bool:
        bounds = (self.start, self.stop)
        return all(isinstance(b, int) for b in bounds) and self.start < self.stop


class PersistentLoop(TileLoop):
    """`T.Persistent`: the tiles of a domain that fall to one block."""

    kind, name = "persistent", "T.Persistent"

    def __init__(self, domain: Any, wave_size: Any, index: Any, group_size: Any) -> None:
        self.domain = [check_bound(e, "an extent of T.Persistent") for e in domain]
        self.wave_size = check_bound(wave_size, "wave_size of T.Persistent")
        self.index = check_bound(index, "the block index of T.Persistent")
        self.group_size = check_bound(group_size, "group_size of T.Persistent")
        for name, value in (("wave_size", self.wave_size), ("group_size", self.group_size)):
            if isinstance(value, int) and value < 1:
                raise LanguageError(f"{name} of T.Persistent is positive, got {value}")

    def open(self, state: TraceState, line: int) -> Any:
        state.open("persistent", line)
        variables = state.core.persistent_begin(
            self.domain, self.wave_size, self.index, self.group_size
        )
        return variables[0] if len(variables) == 1 else tuple(variables)
