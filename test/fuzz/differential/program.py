"""What a random program consists of.

The parts are plain data, so that the shrinker can take them apart and the range check can judge
what is left. Each statement prints itself as lines of Python. Extents are names (`X0`) whose values
are in `Program.extents`: an index such as `(i + 3) % X0` keeps its sense when an extent shrinks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Bound:
    """The values of an expression or buffer: |x| <= magnitude, and x a multiple of 2**exponent."""

    magnitude: float
    exponent: int = 0

    def grown(self, factor: float) -> Bound:
        return replace(self, magnitude=self.magnitude * factor)


@dataclass
class Buffer:
    """A tensor or tile.

    `role` says what a program may do with a tensor: "in" is only read; "own" is read and written
    by each block in its own region, which starts at `base` and has the extents `tile`; "atomic" is
    only updated, by atomics of one `kind`. A tile has the role "tile", a view of a tile or of a
    tensor that is only read "view".
    """

    name: str
    shape: tuple[str, ...]
    dtype: str
    space: str  # global, shared, fragment
    role: str
    bound: Bound
    base: tuple[str, ...] = ()
    tile: tuple[str, ...] = ()
    kind: str = "add"
    layout: str = ""  # the Python text of an annotation
    safe_value: float | None = None
    reducer: str = ""  # the operation of T.alloc_reducer
    strides: tuple[int, ...] = ()  # of a tensor with gaps, in elements

    @property
    def is_tensor(self) -> bool:
        """Whether it is a parameter."""
        return self.space == "global" and self.role != "view"


# ---- Expressions ----


@dataclass(frozen=True)
class Expr:
    """A scalar expression; `op` is a key of ranges.OPS, `data` what the operation needs besides its
    arguments: a number, an index text with its bound, or (buffer, indices)."""

    op: str
    dtype: str
    args: tuple[Expr, ...] = ()
    data: Any = None

    def text(self) -> str:
        from differential.ranges import OPS

        return OPS[self.op].render(self)


# ---- Statements ----


@dataclass
class Stmt:
    """A statement. Compound ones list their bodies in `blocks()`."""

    def lines(self) -> list[str]:
        raise NotImplementedError

    def blocks(self) -> list[list[Stmt]]:
        return []


def render_block(body: list[Stmt]) -> list[str]:
    """The lines of a body, indented; never empty."""
    return [f"    {line}" for stmt in body for line in stmt.lines()] or ["    pass"]


@dataclass
class Region:
    """A buffer, a part of it, or (with plain indices) the address of an element."""

    buffer: str
    indices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.buffer}[{', '.join(self.indices)}]" if self.indices else self.buffer


@dataclass
class Copy(Stmt):
    source: Region
    dest: Region

    def lines(self) -> list[str]:
        return [f"T.copy({self.source}, {self.dest})"]


@dataclass
class Fill(Stmt):
    dest: Region
    value: float

    def lines(self) -> list[str]:
        return [f"T.fill({self.dest}, {self.value!r})" if self.value else f"T.clear({self.dest})"]


@dataclass
class Store(Stmt):
    """`buffer[indices] = value`, or `+=`."""

    buffer: str
    indices: tuple[str, ...]
    value: Expr
    accumulates: bool = False

    def lines(self) -> list[str]:
        sign = "+=" if self.accumulates else "="
        return [f"{Region(self.buffer, self.indices)} {sign} {self.value.text()}"]


@dataclass
class AtomicElement(Stmt):
    kind: str
    buffer: str
    indices: tuple[str, ...]
    value: Expr
    order: str = ""

    def lines(self) -> list[str]:
        order = f', memory_order="{self.order}"' if self.order else ""
        target = Region(self.buffer, self.indices)
        return [f"T.atomic_{self.kind}({target}, {self.value.text()}{order})"]


@dataclass
class ReducerUpdate(Stmt):
    buffer: str
    indices: tuple[str, ...]
    value: Expr

    def lines(self) -> list[str]:
        return [f"T.reducer_update({Region(self.buffer, self.indices)}, {self.value.text()})"]


@dataclass
class Reducer(Stmt):
    """`T.reducer_init`, a loop of updates, and `T.finalize_reducer` belong together."""

    buffer: str
    dest: str
    loop: Parallel

    def blocks(self) -> list[list[Stmt]]:
        return [self.loop.body]

    def lines(self) -> list[str]:
        return [
            f"T.reducer_init({self.buffer})",
            *self.loop.lines(),
            f"T.finalize_reducer({self.buffer}, {self.dest})",
        ]


@dataclass
class AtomicTile(Stmt):
    kind: str
    dest: Region
    source: Region

    def lines(self) -> list[str]:
        return [f"T.atomic_{self.kind}({self.dest}, {self.source})"]


@dataclass
class Reduce(Stmt):
    kind: str
    source: str
    dest: str
    dim: int
    clear: bool

    def lines(self) -> list[str]:
        clear = "" if self.clear else ", clear=False"
        return [f"T.reduce_{self.kind}({self.source}, {self.dest}, dim={self.dim}{clear})"]


@dataclass
class Cumsum(Stmt):
    source: str
    dest: str
    dim: int
    reverse: bool

    def lines(self) -> list[str]:
        reverse = ", reverse=True" if self.reverse else ""
        dest = f", {self.dest}" if self.dest != self.source else ""
        return [f"T.cumsum({self.source}{dest}, dim={self.dim}{reverse})"]


@dataclass
class Gemm(Stmt):
    a: str
    b: str
    c: str
    transpose_a: bool
    transpose_b: bool
    clear: str = ""  # the text of clear_accum, which may be a condition
    policy: str = ""

    def lines(self) -> list[str]:
        options = [f", transpose_{n}=True" for n in "AB" if getattr(self, f"transpose_{n.lower()}")]
        options += [f", clear_accum={self.clear}"] if self.clear else []
        options += [f", policy=T.GemmWarpPolicy.{self.policy}"] if self.policy else []
        return [f"T.gemm({self.a}, {self.b}, {self.c}{''.join(options)})"]


@dataclass
class Variable(Stmt):
    """`name = T.alloc_var(dtype, init=…)`, or an assignment to it."""

    name: str
    dtype: str
    value: Expr
    declares: bool

    def lines(self) -> list[str]:
        if not self.declares:
            return [f"{self.name} = {self.value.text()}"]
        return [f'{self.name} = T.alloc_var("{self.dtype}", init={self.value.text()})']


@dataclass
class View(Stmt):
    """`name = T.view(source, shape, dtype)`; the name is a buffer of the program."""

    name: str
    source: str
    shape: tuple[str, ...]
    dtype: str = ""  # of T.view; empty for T.reshape

    def lines(self) -> list[str]:
        shape = f"({', '.join(self.shape)},)"
        if self.dtype:
            return [f'{self.name} = T.view({self.source}, {shape}, "{self.dtype}")']
        return [f"{self.name} = T.reshape({self.source}, {shape})"]


@dataclass
class Parallel(Stmt):
    variables: tuple[str, ...]
    extents: tuple[str, ...]
    body: list[Stmt]

    def blocks(self) -> list[list[Stmt]]:
        return [self.body]

    def lines(self) -> list[str]:
        head = f"for {', '.join(self.variables)} in T.Parallel({', '.join(self.extents)}):"
        return [head, *render_block(self.body)]


@dataclass
class Loop(Stmt):
    """A loop in order: serial, unroll, pipelined or while. `trips` is an extent or a number."""

    kind: str
    variable: str
    trips: str
    body: list[Stmt]
    num_stages: int = 0
    step: int = 1

    def blocks(self) -> list[list[Stmt]]:
        return [self.body]

    def lines(self) -> list[str]:
        body = render_block(self.body)
        if self.kind == "while":
            return [
                f'{self.variable} = T.alloc_var("int32", init=0)',
                f"while {self.variable} < {self.trips}:",
                *body,
                f"    {self.variable} = {self.variable} + {self.step}",
            ]
        bounds = self.trips if self.step == 1 else f"0, {self.trips}, {self.step}"
        if self.kind == "pipelined":
            return [
                f"for {self.variable} in T.Pipelined({self.trips}, num_stages={self.num_stages}):",
                *body,
            ]
        return [f"for {self.variable} in T.{self.kind}({bounds}):", *body]


@dataclass
class Persistent(Stmt):
    """The statements of each tile that a block of a persistent kernel visits."""

    variables: tuple[str, ...]
    domain: tuple[str, ...]
    workers: str
    body: list[Stmt]

    def blocks(self) -> list[list[Stmt]]:
        return [self.body]

    def lines(self) -> list[str]:
        domain = f"[{', '.join(self.domain)}]"
        head = f"for {', '.join(self.variables)} in T.Persistent({domain}, {self.workers}, block):"
        return [head, *render_block(self.body)]


@dataclass
class If(Stmt):
    condition: str
    body: list[Stmt]
    orelse: list[Stmt] = field(default_factory=list)

    def blocks(self) -> list[list[Stmt]]:
        return [self.body, self.orelse]

    def lines(self) -> list[str]:
        other = ["else:", *render_block(self.orelse)] if self.orelse else []
        return [f"if {self.condition}:", *render_block(self.body), *other]


# ---- Programs ----


@dataclass
class Program:
    """One kernel with its arguments."""

    seed: int
    exact: bool
    extents: dict[str, int]
    dynamic: tuple[str, ...]  # those extents that are only known at run time
    grid: tuple[str, ...]
    threads: int
    buffers: list[Buffer]
    body: list[Stmt]
    helpers: str = ""  # the text of macros
    kind: str = "tiles"  # a key of kinds.KINDS
    cluster: tuple[int, ...] = ()  # the blocks of a cluster, in each dimension of the grid

    def buffer(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)

    @property
    def tensors(self) -> list[Buffer]:
        return [b for b in self.buffers if b.is_tensor]

    @property
    def tiles(self) -> list[Buffer]:
        return [b for b in self.buffers if not b.is_tensor]

    def value(self, extent: str) -> int:
        """The value of an extent or of a formula of extents."""
        return int(eval(extent, {"T": _Formulas}, dict(self.extents)))

    @property
    def block_variables(self) -> tuple[str, ...]:
        if any(isinstance(stmt, Persistent) for stmt in self.body):
            return ("block",)
        return ("bx", "by", "bz")[: len(self.grid)]


class _Formulas:
    """What formulas of extents may call."""

    @staticmethod
    def ceildiv(a: int, b: int) -> int:
        return -(-a // b)


def walk(body: list[Stmt]) -> Iterator[Stmt]:
    """Every statement, outer ones first."""
    for stmt in body:
        yield stmt
        for block in stmt.blocks():
            yield from walk(block)
