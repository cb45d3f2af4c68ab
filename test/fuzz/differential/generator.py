"""Random programs: a grid, tensors around its blocks, tiles, statements, and what is observed."""

from __future__ import annotations

import random

from differential.indices import Var
from differential.program import (
    Bound,
    Buffer,
    Copy,
    Fill,
    If,
    Loop,
    Parallel,
    Program,
    Region,
    Stmt,
    Store,
)
from differential.ranges import FLOATS, full, is_float, is_sound
from differential.statements import Statements

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 8, 12, 13, 16, 16, 16, 17, 24, 31, 32, 32, 33, 40, 64)
DTYPES = ("float32", "float32", "float16", "float16", "bfloat16",
          "int32", "int32", "int8", "uint8", "int16",
          "int64", "uint32", "float64", "uint8", "uint16", "uint64")  # fmt: skip
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
BOUNDED_DTYPES = ("float32", "float32", "float32", "float16", "bfloat16", "int32")
THREADS = (32, 64, 64, 96, 128, 128, 256)
#: The largest tile, in elements: the virtual GPU runs each element's instructions.
MAX_TILE = 1300


def generate(seed: int) -> Program:
    """The program of a seed; two thirds are exact."""
    return _Generator(seed).run()


class _Generator:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        exact = seed % 3 != 2
        self.dtypes = DTYPES if exact else BOUNDED_DTYPES
        if exact and self.rng.random() < 0.12:
            self.dtypes += FLOAT8 * 2
        self.program = Program(seed, exact, {}, (), (), self.rng.choice(THREADS), [], [])
        self.draw_extents()
        self.statements = Statements(
            self.program, self.rng, self.new_tile, FLOAT8[0] in self.dtypes
        )
        self.inits: list[Stmt] = []

    def run(self) -> Program:
        program, rng = self.program, self.rng
        self.draw_tensors()
        for _ in range(rng.randint(2, 4)):
            self.new_tile(self.draw_shape(), self.draw_dtype(), rng.choice(("small", "large")))
        body = program.body
        for _ in range(rng.randint(2, 7)):
            self.extend(body, [], depth=2)
        self.observe(body)
        program.body = [*self.inits, *body]
        used = {name for stmt in program.body for line in stmt.lines() for name in words(line)}
        program.buffers = [b for b in program.buffers if b.is_tensor or b.name in used]
        self.annotate()
        return program

    # ---- Shapes and types ----

    def draw_extents(self) -> None:
        rng, extents = self.rng, self.program.extents
        while True:
            for name in ("X0", "X1", "X2"):
                extents[name] = rng.choice(EXTENTS)
            largest = sorted(extents[n] for n in ("X0", "X1", "X2"))[-2:]
            if largest[0] * largest[1] <= MAX_TILE:
                break
        extents["G0"] = rng.randint(1, 3)
        self.program.grid = ("G0",)
        if rng.random() < 0.4:
            extents["G1"] = rng.randint(1, 3)
            self.program.grid = ("G0", "G1")
        # Rows and columns of the tensors: as many as the blocks cover, or some fewer or more.
        for name, block, tile in (("R", "G0", "X0"), ("C", "G1", "X1")):
            covered = extents.get(block, 1) * extents[tile]
            extents[name] = max(
                1, covered + rng.choice((0, 0, 0, -1, -2, -(extents[tile] // 2), 3))
            )
        if rng.random() < 0.25:
            self.program.dynamic = ("R",)
            extents.pop("G0")
            self.program.grid = ("T.ceildiv(R, X0)", *self.program.grid[1:])

    def draw_dtype(self) -> str:
        return self.rng.choice(self.dtypes)

    def draw_shape(self) -> tuple[str, ...]:
        names = ("X0", "X1", "X2")
        draw = self.rng.random()
        if draw < 0.25:
            return (self.rng.choice(names),)
        if draw < 0.9:
            return tuple(self.rng.sample(names, 2)) if draw < 0.4 else ("X0", "X1")
        small = [n for n in names if self.program.extents[n] <= 8]
        return (small[0], "X0", "X1") if small and small[0] != "X0" else ("X0", "X1")

    def bound(self, dtype: str, size: str) -> Bound:
        """What a tile of a type may hold: "small" ones are multiplied, "large" ones are sums."""
        if not is_float(dtype):
            return Bound(8) if size == "small" else full(dtype)
        if "float8" in dtype:
            return Bound(8)
        if size == "small":
            return Bound(4 if dtype == "bfloat16" else 8)
        if not self.program.exact:
            return Bound(2.0**9 if dtype == "float16" else 2.0**14)
        precision = min(FLOATS[dtype][0], 26)
        exponent = -1 if dtype in ("float32", "float64") else 0
        return Bound(2.0 ** (precision + exponent - 1), exponent)

    # ---- Tensors ----

    def draw_tensors(self) -> None:
        rng = self.rng
        linear = "bx" if len(self.program.grid) == 1 else f"bx * {self.program.grid[1]} + by"
        column = "by * X1" if len(self.program.grid) > 1 else "0"
        self.linear = linear
        two_d = (("R", "C"), ("bx * X0", column), ("X0", "X1"))
        for number in range(rng.randint(2, 4)):
            dtype = self.draw_dtype()
            shape, base, tile = two_d
            if rng.random() < 0.2:
                shape, base, tile = ("R",), ("bx * X0",), ("X0",)
            bound = Bound(4, self.input_step(dtype))
            if not is_float(dtype) and rng.random() < 0.4:
                bound = full(dtype)
            self.tensor(f"A{number}", shape, dtype, "in", base, tile, bound)
        if rng.random() < 0.7:
            dtype = self.draw_dtype()
            bound = self.bound(dtype, "large")
            self.tensor("C0", *two_d[:1], dtype, "own", two_d[1], two_d[2], bound)
        for number in range(rng.choice((0, 0, 1, 1, 2))):
            dtype = rng.choice(
                ("float32", "int32", "float16", "int64", "bfloat16", "float64", "uint32")
            )
            if not self.program.exact:
                dtype = "float32"
            kinds = ("add", "add", "add", "max", "min") + (
                () if is_float(dtype) else ("or", "xor", "and")
            )
            shape = rng.choice((("X0", "X1"), ("R", "C"), ("X0",)))
            self.tensor(f"D{number}", shape, dtype, "atomic", ("0",) * len(shape), shape,
                        self.bound(dtype, "large"), rng.choice(kinds))  # fmt: skip

    def input_step(self, dtype: str) -> int:
        return -1 if self.program.exact and dtype in ("float32", "float16", "float64") else 0

    def tensor(
        self, name: str, shape: tuple[str, ...], dtype: str, role: str, base: tuple[str, ...],
        tile: tuple[str, ...], bound: Bound, kind: str = "add",
    ) -> Buffer:  # fmt: skip
        buffer = Buffer(name, shape, dtype, "global", role, bound, base, tile, kind)
        self.program.buffers.append(buffer)
        return buffer

    # ---- Tiles ----

    def new_tile(
        self, shape: tuple[str, ...], dtype: str, size: str, space: str | None = None
    ) -> Buffer:
        """A tile that is initialised at the start of the kernel."""
        rng = self.rng
        space = space or rng.choice(("shared", "shared", "fragment"))
        stem = "s" if space == "shared" else "f"
        number = sum(b.name.startswith(stem) for b in self.program.tiles)
        tile = Buffer(f"{stem}{number}", shape, dtype, space, "tile", self.bound(dtype, size))
        self.program.buffers.append(tile)
        self.inits.append(self.initial(tile))
        return tile

    def initial(self, tile: Buffer) -> Stmt:
        rng = self.rng
        sources = [b for b in self.program.tensors
                   if b.role == "in" and len(b.shape) == len(tile.shape)
                   and self.statements.converts(b, tile)]  # fmt: skip
        if sources and rng.random() < 0.6:
            source = rng.choice(sources)
            copy = Copy(Region(source.name, source.base), Region(tile.name))
            if self.sound([copy]):
                return copy
        if rng.random() < 0.85:
            names = ("i", "j", "k")[: len(tile.shape)]
            loop_vars = [
                Var(n, self.program.value(e)) for n, e in zip(names, tile.shape, strict=True)
            ]
            inputs = [b for b in self.program.tensors if b.role == "in"]
            value = self.statements.expressions.value(
                tile.dtype, loop_vars, inputs, self.statements.limit(tile), 2
            )
            return Parallel(names, tile.shape, [Store(tile.name, names, value)])
        return Fill(Region(tile.name), 0)

    # ---- Statements ----

    def sound(self, added: list[Stmt]) -> bool:
        trial = Program(
            **{**self.program.__dict__, "body": [*self.inits, *self.program.body, *added]}
        )
        return is_sound(trial)

    def extend(self, body: list[Stmt], scope: list[Var], depth: int) -> None:
        """Appends one more statement, or a few that belong together."""
        for _ in range(8):
            kept = len(self.program.buffers), len(self.inits), len(self.statements.scalars)
            made = self.draw(scope, depth)
            if made and self.sound(made):
                body += made
                return
            del self.program.buffers[kept[0] :]
            del self.inits[kept[1] :]
            del self.statements.scalars[kept[2] :]

    def draw(self, scope: list[Var], depth: int) -> list[Stmt] | None:
        rng, some = self.rng, self.statements
        choices = [(some.parallel, 6), (some.copy, 4), (some.reduce, 2), (some.cumsum, 1),
                   (some.fill, 1), (some.atomic_tile, 2), (some.atomic_elements, 2),
                   (some.reducer, 1), (some.scalar_loop, 1), (some.move, 1)]  # fmt: skip
        if not scope:
            choices += [(some.variable, 1), (some.view, 1), (some.tensor_view, 1),
                        (some.gemm_group, 3), (some.reshape, 1)]  # fmt: skip
        if depth:
            choices += [(lambda s: self.loop(s, depth), 2), (lambda s: self.branch(s, depth), 1)]
        made = rng.choices([c for c, _ in choices], [w for _, w in choices])[0](scope)
        return made if isinstance(made, list) or made is None else [made]

    @property
    def block_variable(self) -> Var:
        """The block's index, for bodies whose loop has no index variable."""
        return Var("bx", self.program.value(self.program.grid[0]))

    def block(self, scope: list[Var], depth: int) -> list[Stmt]:
        body: list[Stmt] = []
        for _ in range(self.rng.randint(1, 3)):
            self.extend(body, scope, depth - 1)
        return body

    def loop(self, scope: list[Var], depth: int) -> Stmt | None:
        rng = self.rng
        kind = rng.choice(("serial", "serial", "unroll", "pipelined", "while"))
        var, trips = self.statements.fresh("t"), rng.choice((0, 1, 2, 2, 3, 4))
        # A while loop's variable has a dtype and is no index value: bodies do not use it.
        inner = scope if kind == "while" else [*scope, Var(var, max(1, trips))]
        step = rng.choice((1, 1, 2)) if kind in ("serial", "while") else 1
        body = self.block(inner or [self.block_variable], depth)
        return Loop(kind, var, str(trips), body, rng.choice((0, 2, 3)), step) if body else None

    def branch(self, scope: list[Var], depth: int) -> Stmt | None:
        rng = self.rng
        condition = self.statements.indices.condition([v for v in scope if v.name != "bx"])
        integers = [s for s in self.statements.scalars if s.dtype == "int32"]
        if integers and rng.random() < 0.5:
            compare = rng.choice((">", "<=", "=="))
            condition = f"{rng.choice(integers).text()} {compare} {rng.randint(-2, 3)}"
        inner = scope or [self.block_variable]
        body = self.block(inner, depth)
        orelse = self.block(inner, depth) if rng.random() < 0.4 else []
        return If(condition, body, orelse) if body else None

    # ---- What is observed ----

    def observe(self, body: list[Stmt]) -> None:
        """Each block stores its tiles where the host can see them."""
        grid = list(self.program.grid)
        for number, tile in enumerate(
            b for b in list(self.program.tiles) if b.role == "tile" and not b.reducer
        ):
            blocks = grid[0] if len(grid) == 1 else f"({grid[0]}) * {grid[1]}"
            if self.program.dynamic:
                blocks = blocks.replace("T.ceildiv(R, X0)", "((R + X0 - 1) // X0)")
            out = self.tensor(f"O{number}", (blocks, *tile.shape), tile.dtype, "own",
                              (self.linear, *("0",) * len(tile.shape)), ("1", *tile.shape),
                              tile.bound.grown(2))  # fmt: skip
            body.append(Copy(Region(tile.name), Region(out.name, out.base)))

    def annotate(self) -> None:
        """Layouts of tensors and shared tiles, and safe values."""
        rng = self.rng
        for buffer in self.program.buffers:
            fixed = not set(self.program.dynamic) & {w for e in buffer.shape for w in words(e)}
            if len(buffer.shape) == 2 and buffer.role in ("in", "own", "atomic", "tile"):
                rows, columns = (self.program.value(e) for e in buffer.shape)
                if buffer.space == "fragment" or rng.random() > 0.2 or buffer.reducer:
                    continue
                if fixed:
                    buffer.layout = self.draw_layout(buffer, rows, columns)
                elif all(extent.isidentifier() for extent in buffer.shape):
                    shape = ", ".join(buffer.shape)
                    buffer.layout = f"T.Layout(({shape}), lambda i, j: [j, i])"
            elif buffer.role == "in" and rng.random() < 0.15:
                buffer.safe_value = rng.choice((1, 2))
        for buffer in self.program.tensors:
            if buffer.role == "in" and buffer.safe_value is None and rng.random() < 0.1:
                buffer.safe_value = 1

    def draw_layout(self, buffer: Buffer, rows: int, columns: int) -> str:
        shape = f"({', '.join(buffer.shape)})"
        forms = [f"T.Layout({shape}, lambda i, j: [j, i])"]
        if columns & (columns - 1) == 0 and columns >= 4:
            forms.append(f"T.Layout({shape}, lambda i, j: [i, j ^ (i % {columns // 2})])")
        for split in (2, 4, 8):
            if columns % split == 0:
                forms.append(f"T.Layout({shape}, lambda i, j: [j // {split}, i, j % {split}])")
            if columns % split == 0 and rows % split == 0:
                forms.append(
                    f"T.Layout({shape}, lambda i, j: "
                    f"[i // {split}, j // {split}, j % {split}, i % {split}])"
                )
        if buffer.space == "shared":
            forms.append(f"T.Layout({shape}, lambda i, j: [i, j + 3])")
            if buffer.dtype in ("float16", "bfloat16") and columns % 64 == 0 and rows % 8 == 0:
                forms.append(f"tilewright.layout.make_swizzled_layout({buffer.name})")
        return self.rng.choice(forms)


def words(text: str) -> set[str]:
    """The identifiers of a line."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
