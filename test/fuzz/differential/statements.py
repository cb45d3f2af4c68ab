"""Random tile statements on the buffers of a program.

Each method draws one statement, or gives None where the program has no fitting buffers. That values
stay within bounds is judged afterwards, for the whole program (ranges.py).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from differential.expressions import Expressions
from differential.indices import Indices, Var
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
    Region,
    Stmt,
    Store,
    Variable,
    View,
)
from differential.ranges import INTEGERS, full, is_float

LOOP_NAMES = ("i", "j", "k", "l")
ORDERS = ("", "", "", "relaxed", "acq_rel", "release")


class Statements:
    """Draws statements. `new_tile` adds an initialised tile to the program."""

    def __init__(
        self, program: Program, rng: random.Random, new_tile: Callable, uses_float8: bool
    ) -> None:
        self.program = program
        self.rng = rng
        self.new_tile = new_tile
        self.uses_float8 = uses_float8
        self.indices = Indices(program, rng)
        self.expressions = Expressions(program, rng)
        self.scalars: list[Expr] = []
        self.count = 0

    # ---- What there is ----

    def tiles(self, **wanted: object) -> list[Buffer]:
        """Tiles and views of tiles with the given attributes; no reducers."""
        return [
            b for b in self.program.tiles
            if not b.reducer and b.space != "global"
            and all(getattr(b, k) == v for k, v in wanted.items())
        ]  # fmt: skip

    def readable(self) -> list[Buffer]:
        return [b for b in self.program.buffers if b.role != "atomic" and not b.reducer]

    def writable(self) -> list[Buffer]:
        return [b for b in self.program.buffers if b.role in ("tile", "own") and not b.reducer]

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def region(self, buffer: Buffer) -> tuple[str, ...]:
        """The extents that a block may write."""
        return buffer.tile if buffer.role == "own" else buffer.shape

    def limit(self, buffer: Buffer) -> Bound:
        """What may be stored."""
        if not is_float(buffer.dtype) and buffer.bound.magnitude >= full(buffer.dtype).magnitude:
            return buffer.bound
        return buffer.bound.grown(0.5)

    # ---- Element-wise loops ----

    def parallel(self, scope: list[Var], dest: Buffer | None = None) -> Stmt | None:
        """A T.Parallel loop that writes one or two buffers."""
        rng = self.rng
        dest = dest or rng.choice(self.writable())
        extents = list(self.region(dest))
        rank = len(extents)
        names = [n for n in LOOP_NAMES if n not in {v.name for v in scope}][:rank]
        if rng.random() < 0.25 and self.program.value(extents[-1]) > 2:
            extents[-1] = f"{extents[-1]} - {rng.randint(1, self.program.value(extents[-1]) - 1)}"
        loop_vars = [Var(n, self.program.value(e)) for n, e in zip(names, extents, strict=True)]
        order = list(range(rank))
        if rng.random() < 0.3:
            rng.shuffle(order)
        dests = [dest]
        others = [b for b in self.writable() if self.root(b.name) != self.root(dest.name)
                  and self.region(b) == self.region(dest)]  # fmt: skip
        if others and rng.random() < 0.3 and extents == list(self.region(dest)):
            dests.append(rng.choice(others))
        # What the loop writes it may only read at the place that the iteration itself writes.
        forced = {b.name: self.indices.each(b, loop_vars) for b in dests}
        body: list[Stmt] = [self.store(b, loop_vars + scope, forced) for b in dests]
        if rng.random() < 0.3:
            orelse = [self.store(dest, loop_vars + scope, forced)] if rng.random() < 0.3 else []
            body = [If(self.indices.condition(loop_vars), body, orelse)]
        return Parallel(tuple(names[d] for d in order), tuple(extents[d] for d in order), body)

    def store(
        self, dest: Buffer, variables: list[Var], forced: dict[str, tuple[str, ...]]
    ) -> Store:
        value = self.expression(dest, variables, forced)
        return Store(dest.name, forced[dest.name], value, accumulates=self.rng.random() < 0.15)

    def expression(
        self, dest: Buffer, variables: list[Var], forced: dict[str, tuple[str, ...]]
    ) -> Expr:
        # A view shares its elements with other names: while one is written the others are not read.
        written = {self.root(name) for name in forced}
        sources = [
            b for b in self.readable() if self.root(b.name) not in written or b.name in forced
        ]
        return self.expressions.value(
            dest.dtype, variables, sources, self.limit(dest), 3, forced, self.scalars
        )

    def root(self, name: str) -> str:
        for stmt in self.views:
            if stmt.name == name:
                return stmt.source
        return name

    @property
    def views(self) -> list[View]:
        return [s for s in self.program.body if isinstance(s, View)]

    # ---- Copies ----

    def converts(self, source: Buffer, dest: Buffer) -> bool:
        """Whether a copy between the two keeps to the bounds of both."""
        if source.dtype == dest.dtype:
            return True
        if not self.program.exact and is_float(source.dtype) != is_float(dest.dtype):
            return False
        if source.dtype in INTEGERS and dest.dtype in INTEGERS:
            return dest.bound.magnitude >= full(dest.dtype).magnitude
        return not dest.dtype.startswith("u")

    def part(self, buffer: Buffer, extents: tuple[str, ...], scope: list[Var]) -> Region | None:
        """A region of `buffer` with these extents."""
        rng = self.rng
        if buffer.role == "own" and buffer.tile[-len(extents) :] != extents:
            return None
        if buffer.is_tensor:
            starts = list(buffer.base)
            if buffer.role == "in" and rng.random() < 0.3:
                dim = rng.randrange(len(starts))
                shift = rng.choice([v.name for v in scope] + [str(rng.randint(1, 5))])
                if starts[dim] != "0" and rng.random() < 0.2:
                    shift = "-2"  # a constant index below 0 would count from the end
                starts[dim] = f"{starts[dim]} + {shift}"
            if rng.random() < 0.4:
                return Region(buffer.name, tuple(starts))
            lead = len(starts) - len(extents)
            pairs = zip(starts[lead:], extents, strict=True)
            return Region(buffer.name, (*starts[:lead], *(f"{s} : {s} + {e}" for s, e in pairs)))
        if buffer.shape == extents and rng.random() < 0.8:
            return Region(buffer.name)
        if len(buffer.shape) != len(extents):
            return None
        slices = []
        for have, want in zip(buffer.shape, extents, strict=True):
            spare = self.program.value(have) - self.program.value(want)
            if spare < 0:
                return None
            start = rng.randint(0, spare)
            slices.append(f"{start} : {start} + {want}")
        return Region(buffer.name, tuple(slices))

    def copy(self, scope: list[Var]) -> Stmt | None:
        rng = self.rng
        dest = rng.choice(self.writable())
        sources = [b for b in self.readable()
                   if b is not dest and self.root(b.name) != self.root(dest.name)
                   and (b.is_tensor or dest.is_tensor or rng.random() < 0.5)
                   and len(b.shape) >= len(self.region(dest))
                   and self.converts(b, dest)]  # fmt: skip
        if not sources:
            return None
        source = rng.choice(sources)
        extents = self.region(dest)
        if rng.random() < 0.3:  # a part
            extents = tuple(
                rng.choice((e, f"{max(1, self.program.value(e) // 2)}")) for e in extents
            )
        if dest.role == "own":
            extents = dest.tile
        to, frm = self.part(dest, extents, scope), self.part(source, extents, scope)
        if to is None or frm is None:
            return None
        if not frm.indices and not to.indices and source.shape != dest.shape:
            return None
        plain = all(":" not in index for index in (*frm.indices, *to.indices))
        if plain and frm.indices and to.indices:  # two addresses say nothing of extents
            return None
        if plain and len(source.shape) != len(dest.shape) and (frm.indices and to.indices):
            return None
        return Copy(frm, to)

    def reshape(self, _: list[Var]) -> list[Stmt] | None:
        """A tile through two others that have an extent of 1 in different places."""
        rng = self.rng
        sources = [b for b in self.tiles(role="tile") if len(b.shape) <= 2 and "1" not in b.shape]
        if not sources:
            return None
        source = rng.choice(sources)
        places = rng.sample(range(len(source.shape) + 1), 2)
        tiles = [
            self.new_tile((*source.shape[:p], "1", *source.shape[p:]), source.dtype, "large")
            for p in places
        ]
        first, second = (Region(tile.name) for tile in tiles)
        return [Copy(Region(source.name), first), Copy(first, second)]

    def move(self, _: list[Var]) -> Stmt | None:
        """A part of a tile, or of the block's part of a tensor, onto another part of the same:
        all is read before anything is written."""
        rng = self.rng
        dests = [b for b in self.writable() if b.space != "fragment"]
        if not dests:
            return None
        dest = rng.choice(dests)
        extents = self.region(dest)
        dim = rng.randrange(len(extents))
        size = self.program.value(extents[dim])
        if size < 2:
            return None
        distance = rng.randint(1, size - 1)
        bases = dest.base if dest.role == "own" else ("0",) * len(extents)

        def region(shift: int) -> Region:
            slices = []
            for d, (base, extent) in enumerate(zip(bases, extents, strict=True)):
                low = f"{base} + {shift}" if d == dim else base
                high = f"{low} + {extent}" + (f" - {distance}" if d == dim else "")
                slices.append(f"{low} : {high}")
            return Region(dest.name, tuple(slices))

        ends = [region(0), region(distance)]
        rng.shuffle(ends)
        return Copy(*ends)

    def fill(self, _: list[Var]) -> Stmt | None:
        dest = self.rng.choice(self.tiles())
        values = (0, 0, 1, 2) if dest.dtype.startswith("u") else (0, 0, 1, -2)
        value = self.rng.choice(values)
        extents = dest.shape
        if self.rng.random() < 0.3:
            extents = tuple(f"{max(1, self.program.value(e) // 2)}" for e in extents)
        region = self.part(dest, extents, [])
        return Fill(region, float(value) if is_float(dest.dtype) else value)

    # ---- Reductions ----

    def reduce(self, _: list[Var]) -> Stmt | None:
        rng = self.rng
        candidates = [b for b in self.tiles() if len(b.shape) >= 2 and "float8" not in b.dtype]
        if not candidates:
            return None
        source = rng.choice(candidates)
        dim = rng.randrange(len(source.shape))
        shape = tuple(e for d, e in enumerate(source.shape) if d != dim)
        kinds = ["sum", "max", "min", "abssum", "absmax"]
        if not is_float(source.dtype):
            kinds += ["bitand", "bitor", "bitxor"]
        dest = next(
            (b for b in self.tiles(dtype=source.dtype, shape=shape) if rng.random() < 0.7), None
        )
        dest = dest or self.new_tile(shape, source.dtype, "large")
        return Reduce(rng.choice(kinds), source.name, dest.name, dim, rng.random() < 0.6)

    def cumsum(self, _: list[Var]) -> Stmt | None:
        rng = self.rng
        candidates = [b for b in self.tiles() if "float8" not in b.dtype]
        if not candidates:
            return None
        source = rng.choice(candidates)
        dests = [b for b in self.tiles(dtype=source.dtype, shape=source.shape) if b is not source]
        dest = rng.choice(dests) if dests else self.new_tile(source.shape, source.dtype, "large")
        if not is_float(source.dtype) and rng.random() < 0.5:
            dest = source
        dim = rng.randrange(len(source.shape))
        return Cumsum(source.name, dest.name, dim, rng.random() < 0.4)

    def reducer(self, scope: list[Var]) -> Stmt | None:
        rng = self.rng
        dests = [
            b
            for b in self.tiles()
            if len(b.shape) == 1 and b.dtype in ("float32", "int32", "float16")
        ]
        if not dests:
            return None
        dest = rng.choice(dests)
        op = rng.choice(("sum", "max", "min"))
        buffer = Buffer(self.fresh("r"), dest.shape, dest.dtype, "fragment", "tile",
                        self.limit(dest), reducer=op)  # fmt: skip
        other = rng.choice(sorted(e for e in self.program.extents if e.startswith("X")))
        names = [n for n in LOOP_NAMES if n not in {v.name for v in scope}][:2]
        loop_vars = [
            Var(names[0], self.program.value(dest.shape[0])),
            Var(names[1], self.program.value(other)),
        ]
        self.program.buffers.append(buffer)
        value = self.expressions.value(dest.dtype, loop_vars + scope, self.readable(), Bound(4), 2)
        loop = Parallel(tuple(names), (dest.shape[0], other),
                        [ReducerUpdate(buffer.name, (names[0],), value)])  # fmt: skip
        return Reducer(buffer.name, dest.name, loop)

    # ---- Atomics ----

    def atomic_tile(self, _: list[Var]) -> Stmt | None:
        rng = self.rng
        pairs = [
            (dest, source)
            for dest in self.program.buffers if dest.role == "atomic"
            for source in self.tiles(dtype=dest.dtype)
            if len(source.shape) == len(dest.shape)
        ]  # fmt: skip
        if not pairs:
            return None
        dest, source = rng.choice(pairs)
        starts = [rng.choice(("0", "bx", str(rng.randint(0, 3)))) for _ in dest.shape]
        slices = tuple(f"{s} : {s} + {e}" for s, e in zip(starts, source.shape, strict=True))
        return AtomicTile(dest.kind, Region(dest.name, slices), Region(source.name))

    def atomic_elements(self, scope: list[Var]) -> Stmt | None:
        """Scattered updates; several iterations and blocks meet."""
        rng = self.rng
        dests = [b for b in self.program.buffers if b.role == "atomic"]
        if not dests:
            return None
        dest = rng.choice(dests)
        names = [n for n in LOOP_NAMES if n not in {v.name for v in scope}][:2]
        extents = [
            rng.choice(sorted(e for e in self.program.extents if e.startswith("X"))) for _ in names
        ]
        loop_vars = [Var(n, self.program.value(e)) for n, e in zip(names, extents, strict=True)]
        value = self.expressions.value(dest.dtype, loop_vars + scope, self.readable(), Bound(4), 2)
        indices = tuple(self.scatter(extent, loop_vars) for extent in dest.shape)
        body: list[Stmt] = [AtomicElement(dest.kind, dest.name, indices, value, rng.choice(ORDERS))]
        if rng.random() < 0.3:
            body = [If(self.indices.condition(loop_vars), body)]
        return Parallel(tuple(names), tuple(extents), body)

    def scatter(self, extent: str, loop_vars: list[Var]) -> str:
        """An index for an atomic: inside, beyond the edge, or loaded."""
        loaded = [
            b for b in self.readable() if b.dtype in ("int32", "int64") and b.space != "fragment"
        ]
        if loaded and self.rng.random() < 0.3:
            source = self.rng.choice(loaded)
            return f"{Region(source.name, self.indices.read(source, loop_vars))} % {extent}"
        if self.rng.random() < 0.15:
            return f"{self.rng.choice(loop_vars).name} - 2"
        return self.indices.inside(extent, loop_vars)

    # ---- Matrix products ----

    def gemm_group(self, scope: list[Var]) -> list[Stmt] | None:
        """Two operands and an accumulator, alone or in a loop over K that loads them."""
        rng = self.rng
        dtype, accumulator = rng.choice(self.gemm_types())
        names = sorted(e for e in self.program.extents if e.startswith("X"))
        m, n, k = (rng.choice(names) for _ in range(3))
        transpose_a, transpose_b = rng.random() < 0.4, rng.random() < 0.4
        a = self.new_tile((k, m) if transpose_a else (m, k), dtype, "small",
                          rng.choice(("shared", "shared", "fragment")))  # fmt: skip
        b = self.new_tile((n, k) if transpose_b else (k, n), dtype, "small",
                          rng.choice(("shared", "shared", "shared", "fragment")))  # fmt: skip
        c = self.new_tile((m, n), accumulator, "large", rng.choice(("fragment",) * 4 + ("shared",)))
        policy = rng.choice(("", "", "FullRow", "FullCol"))
        gemm = Gemm(a.name, b.name, c.name, transpose_a, transpose_b, "", policy)
        if rng.random() < 0.3:
            gemm.clear = rng.choice(("True", "bx == 0"))
            return [gemm]
        trips = rng.randint(1, 4)
        var = self.fresh("k")
        inner = [*scope, Var(var, trips)]
        body = [s for tile in (a, b) if (s := self.load_tile(tile, var, inner))]
        if rng.random() < 0.3 and (extra := self.parallel(inner, rng.choice((a, b)))):
            body.append(extra)
        if rng.random() < 0.2:
            gemm.clear = f"{var} == 0"
        body.append(gemm)
        if rng.random() < 0.25 and (extra := self.parallel(inner)):
            body.append(extra)
        kind = rng.choice(("pipelined", "pipelined", "serial", "unroll"))
        return [Loop(kind, var, str(trips), body, rng.choice((0, 1, 2, 3)))]

    def gemm_types(self) -> list[tuple[str, str]]:
        types = [("float16", "float32"), ("float16", "float32"), ("bfloat16", "float32"),
                 ("float32", "float32"), ("float16", "float16")]  # fmt: skip
        if self.program.exact:
            types += [("int8", "int32"), ("uint8", "int32"), ("float64", "float64")]
        if self.uses_float8:
            types += [("float8_e4m3fn", "float32"), ("float8_e5m2", "float32")] * 3
        return types

    def load_tile(self, tile: Buffer, var: str, scope: list[Var]) -> Stmt | None:
        """A copy of the `var`-th piece of an input into `tile`."""
        sources = [b for b in self.program.tensors
                   if b.role == "in" and len(b.shape) == len(tile.shape)
                   and self.converts(b, tile)]  # fmt: skip
        if not sources:
            return None
        source = self.rng.choice(sources)
        dim = self.rng.randrange(len(tile.shape))
        starts = [f"{var} * {e}" if d == dim else source.base[d] for d, e in enumerate(tile.shape)]
        return Copy(Region(source.name, tuple(starts)), Region(tile.name))

    # ---- Variables, views, blocks ----

    def variable(self, scope: list[Var]) -> Stmt | None:
        """A scalar that all threads share: loaded from a tensor, or computed."""
        rng = self.rng
        dtype = rng.choice(("int32", "float32"))
        sources = [b for b in self.readable() if b.is_tensor]
        block = [Var(n, self.program.value(e)) for n, e in
                 zip(self.program.block_variables, self.program.grid, strict=True)]  # fmt: skip
        limit = Bound(8)
        value = self.expressions.value(dtype, block + scope, sources, limit, 2)
        if value.op == "const":
            value = replace(value, op="typed")
        name = self.fresh("v")
        if not scope:
            self.scalars.append(Expr("var", dtype, (), (name, limit)))
        return Variable(name, dtype, value, declares=True)

    def view(self, scope: list[Var]) -> Stmt | None:
        """Another shape, or other integers, on the elements of a shared tile."""
        if scope:
            return None
        rng = self.rng
        sources = [b for b in self.tiles(space="shared", role="tile") if not self.is_view(b)]
        if not sources:
            return None
        source = rng.choice(sources)
        size = " * ".join(source.shape)
        dtype, shape = "", (size,)
        if len(source.shape) == 2 and rng.random() < 0.5:
            shape = (source.shape[1], source.shape[0])
        bound = source.bound
        unsigned = {"int8": "uint8", "int32": "uint32", "uint8": "int8", "int16": "uint16"}
        if (
            source.dtype in unsigned
            and bound.magnitude >= full(source.dtype).magnitude
            and rng.random() < 0.6
        ):
            dtype = unsigned[source.dtype]
            bound = full(dtype)
        name = self.fresh("w")
        self.program.buffers.append(
            Buffer(name, shape, dtype or source.dtype, "shared", "view", bound)
        )
        return View(name, source.name, shape, dtype)

    def tensor_view(self, scope: list[Var]) -> Stmt | None:
        """Another shape of a tensor that is only read; it has bounds of its own."""
        rng = self.rng
        dynamic = set(self.program.dynamic)
        sources = [b for b in self.program.tensors if b.role == "in"
                   and len(b.shape) == 2 and not dynamic & set(b.shape)]  # fmt: skip
        if scope or not sources:
            return None
        source = rng.choice(sources)
        rows, columns = source.shape
        shape = rng.choice(((columns, rows), (f"{rows} * {columns}",)))
        name = self.fresh("w")
        self.program.buffers.append(
            Buffer(name, shape, source.dtype, "global", "view", source.bound)
        )
        return View(name, source.name, shape)

    def is_view(self, buffer: Buffer) -> bool:
        return buffer.role == "view"

    def scalar_loop(self, scope: list[Var]) -> Stmt | None:
        """A tile row after row: a serial loop around a T.Parallel of the other dimensions."""
        rng = self.rng
        dests = [b for b in self.tiles() if len(b.shape) == 2 and b.role == "tile"]
        if not dests:
            return None
        dest = rng.choice(dests)
        row = self.fresh("r")
        rows = self.program.value(dest.shape[0])
        name = next(n for n in LOOP_NAMES if n not in {v.name for v in scope})
        inner = [Var(name, self.program.value(dest.shape[1]))]
        indices = (row, name)
        value = self.expression(dest, [*inner, Var(row, rows), *scope], {dest.name: indices})
        store = Store(dest.name, indices, value)
        step = rng.choice((1, 1, 2, 3))
        kind = rng.choice(("serial", "serial", "unroll")) if rows <= 16 else "serial"
        return Loop(kind, row, dest.shape[0],
                    [Parallel((name,), (dest.shape[1],), [store])], step=step)  # fmt: skip
