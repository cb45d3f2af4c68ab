"""Which values the parts of a program can have, and so whether it is exact.

Every buffer declares a bound (`Buffer.bound`), and a program is accepted only if each of its
writes provably stays within: then the bounds hold whatever the control flow, and an expression's
bound follows from its leaves. In exact mode every intermediate must be representable in its dtype,
and every sum must stay below the dtype's precision whatever its order; then all engines owe the
same bits (DESIGN, "How right is decided"). In bounded mode only overflow is kept away.

Half of a buffer's magnitude is for values that are stored, half for what is added to them: `+=`,
atomics, gemms. Additions are counted once for each time a surrounding loop or block makes them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from differential.program import (
    AtomicElement,
    AtomicTile,
    Bound,
    Buffer,
    Copy,
    Cumsum,
    Expr,
    Fill,
    Gemm,
    If,
    Loop,
    Parallel,
    Program,
    Reduce,
    Reducer,
    ReducerUpdate,
    Stmt,
    Store,
    Variable,
    View,
)

#: Bits of a significand, the hidden one included, and the largest magnitude used.
FLOATS = {
    "float8_e4m3fn": (4, 448.0),
    "float8_e5m2": (3, 57344.0),
    "bfloat16": (8, 2.0**60),
    "float16": (11, 60000.0),
    "float32": (24, 2.0**60),
    "float64": (53, 2.0**200),
}
INTEGERS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
#: Storage types compute as another type.
COMPUTES_AS = {"float8_e4m3fn": "float32", "float8_e5m2": "float32"}


class Inexact(Exception):
    """A value may leave its bound or need rounding."""


def is_float(dtype: str) -> bool:
    return dtype in FLOATS


def full(dtype: str) -> Bound:
    """All values of an integer type."""
    bits = INTEGERS[dtype]
    return Bound(2.0 ** (bits if dtype.startswith("u") else bits - 1))


def holds(dtype: str, bound: Bound, exact: bool) -> Bound:
    """The bound of a value as `dtype`: integers wrap, floats must be exact or at least finite."""
    if not is_float(dtype):
        return bound if bound.magnitude < full(dtype).magnitude else full(dtype)
    precision, largest = FLOATS[dtype]
    limit = math.ldexp(1.0, bound.exponent + precision) if exact else largest
    if bound.magnitude > min(limit, largest) or bound.exponent < -10:
        raise Inexact(f"{bound} as {dtype}")
    return bound


# ---- Operations ----


@dataclass(frozen=True)
class Op:
    """How an operation prints, and the bound of its result before it becomes the dtype."""

    template: str
    bound: Callable[[Expr, list[Bound]], Bound]

    def render(self, expr: Expr) -> str:
        arguments = [arg.text() for arg in expr.args]
        return self.template.format(*arguments, d=expr.data, t=expr.dtype)


class _Load(Op):
    def render(self, expr: Expr) -> str:
        buffer, indices = expr.data
        return f"{buffer}[{', '.join(indices)}]"


def _sum(_: Expr, args: list[Bound]) -> Bound:
    return Bound(sum(a.magnitude for a in args), min(a.exponent for a in args))


def _difference(expr: Expr, args: list[Bound]) -> Bound:
    return full(expr.dtype) if expr.dtype.startswith("u") else _sum(expr, args)


def _product(_: Expr, args: list[Bound]) -> Bound:
    a, b = args
    return Bound(a.magnitude * b.magnitude, a.exponent + b.exponent)


def _larger(_: Expr, args: list[Bound]) -> Bound:
    return Bound(max(a.magnitude for a in args), min(a.exponent for a in args))


def _same(_: Expr, args: list[Bound]) -> Bound:
    return args[0]


def _any(expr: Expr, _: list[Bound]) -> Bound:
    return full(expr.dtype)


def _whole(_: Expr, args: list[Bound]) -> Bound:
    return Bound(math.ceil(args[0].magnitude), max(0, args[0].exponent))


def _constant(expr: Expr, _: list[Bound]) -> Bound:
    if expr.dtype.startswith("u") and expr.data < 0:
        return full(expr.dtype)
    exponent = 0
    while expr.data and (expr.data / 2.0**exponent) % 1 and exponent > -30:
        exponent -= 1
    return Bound(abs(expr.data), exponent)


def _clamp(expr: Expr, args: list[Bound]) -> Bound:
    return Bound(min(abs(expr.data), args[0].magnitude), args[0].exponent)


def _remainder(expr: Expr, args: list[Bound]) -> Bound:
    divisor = expr.args[1]
    if divisor.op == "typed" and divisor.data:
        return Bound(abs(divisor.data) - 1.0)
    return _larger(expr, args)  # x % 0 is x


def _cast(expr: Expr, args: list[Bound]) -> Bound:
    (source,) = args
    if is_float(expr.dtype):
        return source
    from_float = is_float(expr.args[0].dtype)
    whole = _whole(expr, args) if from_float else source  # truncates, and saturates
    if from_float or expr.dtype[0] != "u" or expr.args[0].dtype[0] == "u":
        return whole
    return full(expr.dtype)  # negative numbers wrap


def _function(expr: Expr, args: list[Bound]) -> Bound:
    return Bound(FUNCTIONS[expr.data][1])


#: Functions of bounded mode: their text and the largest result.
FUNCTIONS = {
    "exp": ("T.exp(T.min({0}, 3.0))", 21.0),
    "exp2": ("T.exp2(T.min({0}, 4.0))", 16.0),
    "log": ("T.log(T.abs({0}) + 1.0)", 100.0),
    "log2": ("T.log2(T.abs({0}) + 1.0)", 140.0),
    "tanh": ("T.tanh({0})", 1.0),
    "sigmoid": ("T.sigmoid({0})", 1.0),
    "sqrt": ("T.sqrt(T.abs({0}) + 0.5)", 2.0**16),
    "rsqrt": ("T.rsqrt(T.abs({0}) + 1.0)", 1.0),
    "third": ("({0} / 3.0)", 2.0**16),
}


class _Function(Op):
    def render(self, expr: Expr) -> str:
        return FUNCTIONS[expr.data][0].format(expr.args[0].text())


class _Clamp(Op):
    """Limits of the integer's own type keep it; literals would make it an int32."""

    def render(self, expr: Expr) -> str:
        if is_float(expr.dtype):
            return super().render(expr)
        limits = ", ".join(f"T.{expr.dtype}({sign}{expr.data})" for sign in ("-", ""))
        return f"T.clamp({expr.args[0].text()}, {limits})"


def _met(bound: Callable[[Expr, list[Bound]], Bound]) -> Callable[[Expr, list[Bound]], Bound]:
    """The bound of an operation whose operands are first converted to its type."""

    def of_converted(expr: Expr, args: list[Bound]) -> Bound:
        converted = [
            holds(expr.dtype, _cast(Expr("cast", expr.dtype, (arg,)), [given]), exact=True)
            for arg, given in zip(expr.args, args, strict=True)
        ]
        return bound(expr, converted)

    return of_converted


OPS: dict[str, Op] = {
    "const": Op("{d!r}", _constant),
    "typed": Op("T.{t}({d!r})", _constant),
    "index": Op('T.cast({d[0]}, "{t}")', lambda e, _: Bound(float(e.data[1]))),
    "var": Op("{d[0]}", lambda e, _: e.data[1]),
    "load": _Load("", lambda e, _: Bound(0)),  # the checker knows buffers
    "add": Op("({0} + {1})", _sum),
    "sub": Op("({0} - {1})", _difference),
    "mul": Op("({0} * {1})", _product),
    "max": Op("T.max({0}, {1})", _larger),
    "min": Op("T.min({0}, {1})", _larger),
    "neg": Op("(-{0})", lambda e, a: full(e.dtype) if e.dtype[0] == "u" else a[0]),
    "abs": Op("T.abs({0})", _same),
    "clamp": _Clamp("T.clamp({0}, -{d}, {d})", _clamp),
    "floor": Op("T.floor({0})", _whole),
    "ceil": Op("T.ceil({0})", _whole),
    "trunc": Op("T.trunc({0})", _whole),
    "half": Op("({0} * 0.5)", lambda _, a: Bound(a[0].magnitude / 2, a[0].exponent - 1)),
    "select": Op("T.if_then_else({d}, {0}, {1})", _larger),
    "choose": Op("T.if_then_else({0} {d} {1}, {2}, {3})", lambda e, a: _larger(e, a[2:])),
    "cast": Op('T.cast({0}, "{t}")', _cast),
    "floordiv": Op("({0} // {1})", _same),
    "floormod": Op("({0} % {1})", _remainder),
    "truncdiv": Op("T.truncdiv({0}, {1})", _same),
    "and": Op("({0} & {1})", _any),
    "or": Op("({0} | {1})", _any),
    "xor": Op("({0} ^ {1})", _any),
    "shl": Op("({0} << {d})", _any),
    "shr": Op("({0} >> {d})", _any),
    "shl by": Op("({0} << {1})", _any),
    "shr by": Op("({0} >> {1})", _any),
    "function": _Function("", _function),
    "literal": Op("{d!r}", _constant),
    "mixed add": Op("({0} + {1})", _met(_sum)),
    "mixed sub": Op("({0} - {1})", _met(_difference)),
    "mixed mul": Op("({0} * {1})", _met(_product)),
    "mixed max": Op("T.max({0}, {1})", _met(_larger)),
    "mixed min": Op("T.min({0}, {1})", _met(_larger)),
}


# ---- The check ----


class Ranges:
    """Judges the statements of a program; raises Inexact."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.exact = program.exact
        self.added: Counter[str] = Counter()
        self.roots = {}
        self.num_blocks = math.prod(program.value(extent) for extent in program.grid)

    def bound_of(self, expr: Expr) -> Bound:
        """The bound of an expression's value."""
        if expr.op == "load":
            return self.program.buffer(expr.data[0]).bound
        bound = OPS[expr.op].bound(expr, [self.bound_of(arg) for arg in expr.args])
        return holds(expr.dtype, bound, self.exact)

    def check(self, body: list[Stmt], trips: int = 1, lanes: int = 1) -> None:
        """`trips` is how often loops repeat the statements, `lanes` how many iterations of a
        surrounding T.Parallel there are."""
        for stmt in body:
            self.check_stmt(stmt, trips, lanes)

    def check_stmt(self, stmt: Stmt, trips: int, lanes: int) -> None:
        buffer = self.program.buffer
        match stmt:
            case Copy() if stmt.source.buffer == stmt.dest.buffer:
                pass  # what may be in one place may be in another
            case Copy():
                self.store(buffer(stmt.dest.buffer), buffer(stmt.source.buffer).bound)
            case Fill():
                self.store(
                    buffer(stmt.dest.buffer), _constant(Expr("const", "", (), stmt.value), [])
                )
            case Store():
                bound = self.bound_of(stmt.value)
                if stmt.accumulates:
                    self.add(buffer(stmt.buffer), bound, trips)
                else:
                    self.store(buffer(stmt.buffer), bound)
            case AtomicElement():
                self.update(
                    stmt.kind, buffer(stmt.buffer), self.bound_of(stmt.value), trips * lanes
                )
            case ReducerUpdate():
                target = buffer(stmt.buffer)
                kind = "add" if target.reducer == "sum" else target.reducer
                self.update(kind, target, self.bound_of(stmt.value), trips * lanes)
            case AtomicTile():
                self.update(
                    stmt.kind, buffer(stmt.dest.buffer), buffer(stmt.source.buffer).bound, trips
                )
            case Reduce():
                self.reduce(stmt, trips)
            case Cumsum():
                count = self.program.value(buffer(stmt.source).shape[stmt.dim])
                self.store(buffer(stmt.dest), buffer(stmt.source).bound.grown(count))
            case Gemm():
                self.gemm(stmt, trips)
            case Variable():
                self.bound_of(stmt.value)
            case View():
                self.roots[stmt.name] = self.roots.get(stmt.source, stmt.source)
            case Parallel():
                extents = math.prod(self.program.value(extent) for extent in stmt.extents)
                self.check(stmt.body, trips, lanes * extents)
            case Reducer():
                self.check([stmt.loop], trips)
                self.store(buffer(stmt.dest), buffer(stmt.buffer).bound)
            case Loop():
                count = -(-self.program.value(stmt.trips) // stmt.step)
                self.check(stmt.body, trips * count, lanes)
            case If():
                self.check(stmt.body, trips, lanes)
                self.check(stmt.orelse, trips, lanes)
            case _:
                raise AssertionError(f"no rule for {stmt}")

    def store(self, dest: Buffer, bound: Bound) -> None:
        bound = holds(dest.dtype, bound, self.exact)
        if bound.magnitude * 2 > dest.bound.magnitude and not self.is_unbounded(dest):
            raise Inexact(f"{bound} into {dest.name}")
        self.require_step(dest, bound)

    def add(self, dest: Buffer, bound: Bound, count: int) -> None:
        self.require_step(dest, bound)
        if self.is_unbounded(dest):
            return
        root = self.roots.get(dest.name, dest.name)
        self.added[root] += bound.magnitude * count * (self.num_blocks if dest.is_tensor else 1)
        if self.added[root] * 2 > dest.bound.magnitude:
            raise Inexact(f"{self.added[root]} added to {dest.name}")

    def update(self, kind: str, dest: Buffer, bound: Bound, count: int) -> None:
        if kind == "add":
            self.add(dest, bound, count)
        else:
            self.store(dest, bound)

    def reduce(self, stmt: Reduce, trips: int) -> None:
        source, dest = (self.program.buffer(name) for name in (stmt.source, stmt.dest))
        if stmt.kind in ("sum", "abssum"):
            total = source.bound.grown(self.program.value(source.shape[stmt.dim]))
            if stmt.clear:
                self.store(dest, total)
            else:
                self.add(dest, total, trips)
        else:
            self.store(dest, source.bound)

    def gemm(self, stmt: Gemm, trips: int) -> None:
        a, b, c = (self.program.buffer(name) for name in (stmt.a, stmt.b, stmt.c))
        depth = self.program.value(a.shape[0 if stmt.transpose_a else 1])
        product = Bound(a.bound.magnitude * b.bound.magnitude, a.bound.exponent + b.bound.exponent)
        self.add(c, product.grown(depth), trips)

    def is_unbounded(self, dest: Buffer) -> bool:
        """Integers that may have any value wrap."""
        return not is_float(dest.dtype) and dest.bound.magnitude >= full(dest.dtype).magnitude

    def require_step(self, dest: Buffer, bound: Bound) -> None:
        if self.exact and bound.exponent < dest.bound.exponent and is_float(dest.dtype):
            raise Inexact(f"{bound} into {dest.name}, a multiple of 2**{dest.bound.exponent}")


def is_sound(program: Program) -> bool:
    """Whether every write of the program stays within the declared bounds."""
    try:
        Ranges(program).check(program.body)
    except Inexact:
        return False
    return True
