"""The trace in progress, and what the hooks need to know about values.

A *kernel value* is computed when the kernel runs; everything else is a Python value and is known
while tracing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tilewright._core import core
from tilewright.frontend import numpy_guard, tile_guard
from tilewright.support.errors import LanguageError

Expr, Element, Var, IndexExpr = core.Expr, core.Element, core.Var, core.IndexExpr
Buffer = core.Buffer

numpy_guard.install((Expr, Element, Var, IndexExpr, Buffer))
tile_guard.install(Buffer, (Expr, Element, Var, IndexExpr))

#: Classes of run-time scalars.
KERNEL_SCALARS = frozenset({Expr, Element, Var, IndexExpr})
_NUMBERS = frozenset({int, float, bool})


class Unbound:
    """Stands for a local name that has no value."""

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = Unbound()


class Region:
    """An open region of the IR: where it was opened, and what it is."""

    __slots__ = ("after", "depth", "extents", "kind", "line", "variables")

    def __init__(self, kind: str, depth: int, line: int = 0) -> None:
        self.kind = kind
        self.depth = depth
        self.line = line
        self.after: list[Callable[[], None]] = []  # what is built right after it
        self.variables: tuple[Any, ...] = ()  # of a T.Parallel,
        self.extents: tuple[Any, ...] = ()  # with their extents


class TraceState:
    """One function being traced: the core's trace and the front end's own bookkeeping."""

    def __init__(self, name: str, file: str, line: int) -> None:
        self.core = core.Trace(name, file, line)
        self.regions: list[Region] = []
        self.bound_vars: dict[int, Any] = {}  # variables that have a Python name already
        self.auto_vars: dict[int, Any] = {}  # variables made for plain names (loops carry them)
        self.lost: dict[str, str] = {}  # why a local name has no value
        self.hidden: dict[str, Any] = {}  # arguments whose names hold other values now
        self.containers: dict[int, tuple[Any, Any]] = {}  # lists and the region they were made in
        self.name_hint: str | None = None
        self.calls: list[Any] = []  # macros being inlined, outermost first
        self.kernels = 0
        self.threads: list[int] = []  # extents of the block's threads in the open kernel,
        self.blocks: list[Any] = []  # and the indices of the block,
        self.grid: list[Any] = []  # of so many
        self.cluster: list[int] = []  # extents of the cluster of blocks,
        self.reaches_blocks = False  # whether one touches the shared memory of another
        self.meets_grid = False  # whether the blocks of the grid meet
        self.thread_indices: list[tuple[Any, int]] = []  # values, with their dimensions
        self.reducers: list[Any] = []  # of the open T.attr, outermost first
        self.generator: Any = None  # of random numbers, in the open kernel
        self.named_barriers: Any = None  # its barriers by number
        self.barrier_list: Any = None  # and those of T.create_list_of_mbarrier
        self.returned_in_kernel = False
        self.parameter_notes: dict[str, dict[str, Any]] = {}  # what a call must know of them
        self.addresses: set[str] = set()  # parameters that are addresses, or tables of them,
        self.memory: dict[Any, Any] = {}  # and the tensors with what they point to
        self.scalar_parameters: dict[int, tuple[Any, str]] = {}  # values by id, with their names
        self.extent_symbols: dict[str, Any] = {}  # symbols that stand for them in shapes
        self.narrow_origins: dict[int, Any] = {}  # elements of them that were named, by id
        self.externs: list[Any] = []  # calls of functions that must be gone at compilation
        self.eager: Any = None  # the declarations of an eager function

    def open(self, kind: str, line: int = 0) -> Region:
        """Notes that the region of this `kind` is about to be opened in the core."""
        region = Region(kind, self.core.depth(), line)
        self.regions.append(region)
        return region

    def close(self, region: Region) -> None:
        """Ends the innermost region, which must be `region`."""
        assert self.regions[-1] is region
        self.regions.pop()
        self.core.end()
        for build in region.after:
            build()

    def control_flow(self) -> Region | None:
        """The innermost open region of run-time control flow."""
        return self.regions[-1] if self.regions and self.regions[-1].kind != "kernel" else None

    def innermost(self, kinds: tuple[str, ...]) -> Region | None:
        """The innermost open region of one of `kinds`."""
        for region in reversed(self.regions):
            if region.kind in kinds:
                return region
        return None

    def take_name(self, default: str) -> str:
        """The name of the assignment that is being traced, for a tile or variable."""
        hint, self.name_hint = self.name_hint, None
        return hint or default


class _PerThread(threading.local):
    """Kernels may be traced in several threads at once."""

    active: TraceState | None = None
    fast_math = False  # of the functions that are traced now

    def __init__(self) -> None:
        self.pending: list[Any] = []  # see push_pending


per_thread = _PerThread()


def active() -> TraceState | None:
    """The trace in progress in this thread, if any."""
    return per_thread.active


def require(what: str) -> TraceState:
    """The trace in progress; `what` is the construct that needs one."""
    state = per_thread.active
    if state is None:
        raise LanguageError(
            f"'{what}' is only allowed inside a kernel",
            hint="call it from a function decorated with @T.prim_func, @T.macro or @tilelang.jit",
        )
    return state


def begin(state: TraceState) -> TraceState | None:
    """Makes `state` the trace in progress; returns the one it interrupts."""
    previous, per_thread.active = per_thread.active, state
    if previous is None:
        per_thread.pending.clear()  # an error in an earlier trace may have left something
    if previous is not None:
        previous.core.deactivate()
    state.core.activate()
    return previous


def finish(state: TraceState, previous: TraceState | None) -> None:
    """Ends what `begin` began, also after an error."""
    state.core.deactivate()
    per_thread.active = previous
    if previous is not None:
        previous.core.activate()


# ---- Operands of `and`, `or` and conditional expressions, between their hooks ----


def push_pending(value: Any) -> None:
    """Remembers what the first hook of an expression found out."""
    per_thread.pending.append(value)


def pop_pending() -> Any:
    """What the first hook of the innermost expression remembered."""
    return per_thread.pending.pop()


# ---- Scalars ----


def is_kernel_value(value: Any) -> bool:
    """True for a scalar that is only known when the kernel runs."""
    return type(value) in KERNEL_SCALARS


def plain(value: Any) -> Any:
    """The Python number that a numpy scalar, or a subclass of int or float, counts as; everything
    else as it is."""
    kind = type(value)
    if kind in _NUMBERS or kind in KERNEL_SCALARS:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if getattr(value, "ndim", None) == 0 and hasattr(value, "dtype") and hasattr(value, "item"):
        number = value.item()
        return number if type(number) in _NUMBERS else value
    return value


def is_scalar(value: Any) -> bool:
    """True for run-time scalars and Python numbers, numpy's among them."""
    kind = type(value)
    return kind in KERNEL_SCALARS or kind in _NUMBERS or type(plain(value)) in _NUMBERS


def dtype_of(value: Any) -> str:
    """The dtype a scalar has in the IR: Python ints are index values, floats float32."""
    value = plain(value)
    kind = type(value)
    if kind is bool:
        return "bool"
    if kind is int or kind is IndexExpr:
        return "index"
    if kind is float:
        return "float32"
    return value.dtype_name


def describe(value: Any) -> str:
    """What `value` is, in the words of a message."""
    kind = type(value)
    if kind is Buffer:
        return f"the tile '{value.name}'"
    if kind in KERNEL_SCALARS:
        return f"a run-time value of type {dtype_of(value)}"
    if value is None:
        return "None"
    if kind in _NUMBERS:
        return f"the Python number {value!r}"
    return f"a Python {kind.__name__}"


_WIDTH = {"float16": 1, "bfloat16": 1, "float32": 2, "tfloat32": 2, "float64": 3}


def keeps_value(target: str, source: Any) -> bool:
    """True if a variable of dtype `target` can hold the scalar `source` without losing anything."""
    source = plain(source)
    if type(source) in (bool, int):
        return target != "bool" or type(source) is bool
    if type(source) is float:
        return "float" in target
    given = dtype_of(source)
    if given == target:
        return True
    if target == "bool" or given == "float64":
        return False
    if "float" in target:
        if given in ("bool", "index") or "int" in given:
            return given == "bool"
        return _WIDTH.get(given, 0) < _WIDTH.get(target, 0)
    if "float" in given:
        return False
    if target == "index":
        return given != "uint64"
    if given == "index":  # takes the other side's type, as in arithmetic
        return target in ("int32", "int64", "uint32", "uint64")
    bits = {name: int("".join(filter(str.isdigit, name)) or 1) for name in (target, given)}
    if given == "bool":
        return True
    if given.startswith("u") == target.startswith("u"):
        return bits[given] < bits[target]
    return given.startswith("u") and bits[given] < bits[target]
