"""Random programs whose blocks talk: one writes, tells it by an atomic, and another one reads.

A program has one or two *phases*, each with tensors of its own. In a phase, blocks pass tiles on in
one of five ways:

    chain      each block waits for an earlier one, and adds what that one has written
    loop       the same in each iteration of a loop, as in a systolic array
    turns      blocks that share a tile of the result add to it one after the other
    collector  the last block of the grid waits for all others, and adds what they have written
    last       the block that comes last, whichever it is, adds what all have written

A tile is written and read by copies (bulk copies on sm_90a), element by element, by atomic
additions, or by each thread; what is read may pass through a product. The block tells and waits, or
one of its threads does. Blocks wait for earlier ones only, as the interpreter requires. What the
arguments are afterwards stands beside the kernel, in numpy (`expected`), so that the interpreter is
judged too. Values are small integers, and every program is exact.
"""

from __future__ import annotations

import random

from differential import emit as tile_programs
from differential.pipeline_parts import Text
from differential.program import Bound, Buffer, Program

TYPES = ("float16", "float16", "bfloat16", "float32", "float32", "int32", "int8", "uint8", "int16",
         "int64", "float64")  # fmt: skip
#: Tiles of these pass through products, whose sums have the other dtype.
PRODUCTS = {"float16": "float32", "bfloat16": "float32", "int8": "int32"}
#: Tiles of these are added atomically.
ADDED = ("float32", "int32", "float16", "bfloat16", "float64")
SHAPES = ((1, 64), (1, 100), (3, 40), (4, 64), (8, 128), (16, 16), (32, 24), (64, 64), (7, 9))
SQUARES = (32, 64, 64)
GRIDS = (("2",), ("3",), ("5",), ("8",), ("2", "2"), ("3", "2"))
THREADS = (32, 64, 128, 128, 256)
RELEASES, ACQUIRES = ("release", "acq_rel", "seq_cst"), ("acquire", "acq_rel", "seq_cst")


class _Phase:
    """Draws one phase: what the kernel allocates, what it does, and what numpy does."""

    def __init__(
        self, program: Program, rng: random.Random, number: int, names_threads: bool
    ) -> None:
        self.program, self.rng, self.number = program, rng, number
        self.names_threads = names_threads
        self.blocks = program.value(" * ".join(program.grid))
        self.dtype = rng.choice(TYPES)
        self.has_product = self.dtype in PRODUCTS and rng.random() < 0.5
        side = rng.choice(SQUARES)
        self.shape = (side, side) if self.has_product else rng.choice(SHAPES)
        self.made: list[str] = []
        self.body: list[str] = []
        self.meant: list[str] = []
        self.a = self.tensor("A", (self.blocks, *self.shape), self.dtype, "in")

    # ---- Names ----

    def tensor(self, name: str, shape: tuple[int, ...], dtype: str, role: str = "own") -> str:
        name = f"{name}{self.number}"
        largest = Bound(2 if role == "in" else 0)
        self.program.buffers.append(
            Buffer(name, tuple(map(str, shape)), dtype, "global", role, largest)
        )
        return name

    def tile(self, name: str, space: str = "", dtype: str = "") -> str:
        name = f"{name}{self.number}"
        space = space or self.rng.choice(("shared", "fragment"))
        self.made.append(f'{name} = T.alloc_{space}({self.shape}, "{dtype or self.dtype}")')
        return name

    def is_shared(self, tile: str) -> bool:
        return any(line.startswith(f"{tile} = T.alloc_shared") for line in self.made)

    def region(self, tensor: str, lead: str) -> str:
        rows, columns = self.shape
        return f"{tensor}[{lead}, 0:{rows}, 0:{columns}]"

    # ---- Statements ----

    def each(self, line: str, tiles: tuple[str, ...]) -> list[str]:
        """A line for each element `{i}, {j}`: in a parallel loop, or by each thread."""
        rows, columns = self.shape
        threads = self.program.threads
        fits = rows * columns % threads == 0 and all(map(self.is_shared, tiles))
        if self.names_threads and fits and self.rng.random() < 0.5:
            at = f"(u * {threads} + tx)"
            line = line.format(i=f"{at} // {columns}", j=f"{at} % {columns}")
            return [f"for u in T.serial({rows * columns // threads}):", f"    {line}"]
        return self.each_parallel(line.format(i="i", j="j"))

    def load(self, tensor: str, lead: str, tile: str) -> list[str]:
        if self.rng.random() < 0.65:
            return [f"T.copy({self.region(tensor, lead)}, {tile})"]
        return self.each(f"{tile}[{{i}}, {{j}}] = {tensor}[{lead}, {{i}}, {{j}}]", (tile,))

    def store(self, tile: str, tensor: str, lead: str, is_zero: bool = True) -> list[str]:
        """Writes a tile; `is_zero`: what stands there is, and so it may be added, too."""
        draw = self.rng.random()
        if draw < 0.2 and is_zero and self.dtype in ADDED:
            return [f"T.atomic_add({self.region(tensor, lead)}, {tile})"]
        if draw < 0.7:
            return [f"T.copy({tile}, {self.region(tensor, lead)})"]
        return self.each(f"{tensor}[{lead}, {{i}}, {{j}}] = {tile}[{{i}}, {{j}}]", (tile,))

    def combine(self, x: str, y: str) -> list[str]:
        """x += y, turned upside down or passed through a product of ones and zeros."""
        if self.has_product:
            return [
                f"T.clear(c{self.number})",
                f"T.gemm({y}, p{self.number}, c{self.number})",
                *self.each_parallel(
                    f'{x}[i, j] = {x}[i, j] + T.cast(c{self.number}[i, j], "{self.dtype}")'
                ),
            ]
        rows, columns = self.shape
        where = f"{rows - 1} - {{i}}, {columns - 1} - {{j}}" if self.is_turned else "{i}, {j}"
        line = f"{x}[{{i}}, {{j}}] = {x}[{{i}}, {{j}}] + {y}[{where}]"
        return self.each(line, (x, y))

    def each_parallel(self, line: str) -> list[str]:
        rows, columns = self.shape
        return [f"for i, j in T.Parallel({rows}, {columns}):", f"    {line}"]

    def meant_combine(self, x: str, y: str) -> str:
        """The same in numpy."""
        if self.has_product:
            y = f"({y}.astype(np.float64) @ P{self.number}.astype(np.float64))"
        elif self.is_turned:
            y = f"{y}[::-1, ::-1]"
        return f"({x} + {y}).astype({x}.dtype)"

    def operands(self) -> tuple[str, str]:
        """The block's own tile x and the tile y that it reads, with what a product needs."""
        self.is_turned = not self.has_product and self.rng.random() < 0.4
        x = self.tile("x")
        y = self.tile("y", "shared" if self.has_product or self.is_turned else "")
        if self.has_product:
            side = str(self.shape[0])
            self.program.buffers.append(
                Buffer(f"P{self.number}", (side, side), self.dtype, "global", "in", Bound(1))
            )
            self.tile("c", "fragment", PRODUCTS[self.dtype])
            p = self.tile("p", "shared")
            self.made.append(f"T.copy(P{self.number}, {p})")
        return x, y

    # ---- Telling and waiting ----

    def by_one(self, lines: list[str]) -> list[str]:
        """In programs that name their threads, one of them does it."""
        if not self.names_threads:
            return lines
        thread = self.rng.choice((0, 0, 0, self.program.threads - 1))
        barrier = ["T.sync_threads()"] if self.rng.random() < 0.5 else []
        return [*barrier, f"if tx == {thread}:", *(f"    {line}" for line in lines), *barrier]

    def tell(self, flag: str, value: str = "1") -> list[str]:
        """Sets a flag that was one less."""
        order = self.rng.choice(RELEASES)
        kinds = [f'T.atomic_add({flag}, 1, memory_order="{order}")'] * 2
        stored = self.rng.choice(("release", "seq_cst"))
        kinds.append(f'T.atomic_store({flag}, {value}, memory_order="{stored}")')
        kinds.append(f'T.atomic_max({flag}, {value}, memory_order="{order}")')
        return self.by_one([self.rng.choice(kinds)])

    def count_up(self, flag: str) -> list[str]:
        order = self.rng.choice(RELEASES)
        return self.by_one([f'T.atomic_add({flag}, 1, memory_order="{order}")'])

    def wait(self, flag: str, value: str = "1") -> list[str]:
        rng = self.rng
        seen = f'T.atomic_load({flag}, memory_order="{rng.choice(("acquire", "seq_cst"))}")'
        if rng.random() < 0.2:
            seen = (
                f'T.atomic_or({flag}, 0, memory_order="{rng.choice(ACQUIRES)}", return_prev=True)'
            )
        lines = [f"while {seen} < {value}:", "    T.evaluate(0)"]
        return lines if rng.random() < 0.4 and "load" in seen else self.by_one(lines)

    # ---- The five ways ----

    def chain(self, b: str) -> None:
        w = self.tensor("W", (self.blocks, *self.shape), self.dtype)
        f = self.tensor("F", (self.blocks,), "int32")
        x, y = self.operands()
        back = self.rng.randint(1, min(3, self.blocks - 1))
        before = self.rng.random() < 0.5  # whether the block's own tile is loaded before it waits
        own = self.load(self.a, b, x)
        self.body += own if before else []
        self.body += [f"if {b} >= {back}:"]
        inside = [*self.wait(f"{f}[{b} - {back}]"), *self.load(w, f"{b} - {back}", y)]
        if before:
            inside += self.combine(x, y)
        else:  # what has been read waits for the block's own tile
            inside = inside + self.load(self.a, b, x) + self.combine(x, y)
        self.body += [f"    {line}" for line in inside]
        if not before:
            self.body += ["else:", *(f"    {line}" for line in own)]
        self.body += [*self.store(x, w, b), *self.tell(f"{f}[{b}]")]
        n = self.number
        self.meant += [
            f"for b in range({self.blocks}):",
            f"    x = A{n}[b].copy()",
            f"    if b >= {back}:",
            f"        x = {self.meant_combine('x', f'W{n}[b - {back}]')}",
            f"    W{n}[b] = x",
            f"F{n}[...] = 1",
        ]

    def loop(self, b: str) -> None:
        trips = self.rng.choice((1, 2, 3, 4))
        w = self.tensor("W", (self.blocks, trips, *self.shape), self.dtype)
        f = self.tensor("F", (self.blocks, trips), "int32")
        x, y = self.operands()
        stages = self.rng.choice((1, 2, 3))
        head = self.rng.choice((f"T.serial({trips})", f"T.Pipelined({trips}, num_stages={stages})"))
        body = [f"if {b} > 0:"]
        inside = [*self.wait(f"{f}[{b} - 1, k]"), *self.load(w, f"{b} - 1, k", y)]
        inside += self.combine(x, y)
        body += [f"    {line}" for line in inside]
        body = [*self.load(self.a, b, x), *body]
        body += [*self.store(x, w, f"{b}, k"), *self.tell(f"{f}[{b}, k]")]
        self.body += [f"for k in {head}:", *(f"    {line}" for line in body)]
        n = self.number
        self.meant += [
            f"for b in range({self.blocks}):",
            f"    for k in range({trips}):",
            f"        x = A{n}[b].copy()",
            "        if b > 0:",
            f"            x = {self.meant_combine('x', f'W{n}[b - 1, k]')}",
            f"        W{n}[b, k] = x",
            f"F{n}[...] = 1",
        ]

    def turns(self, b: str) -> None:
        tiles = self.rng.randint(1, max(1, self.blocks // 2))
        w = self.tensor("W", (tiles, *self.shape), self.dtype)
        f = self.tensor("F", (tiles,), "int32")
        x, y = self.operands()
        tile = f"({b}) % {tiles}"
        self.body += [*self.load(self.a, b, x), *self.wait(f"{f}[{tile}]", f"({b}) // {tiles}")]
        self.body += [*self.load(w, tile, y), *self.combine(x, y)]
        self.body += [*self.store(x, w, tile, is_zero=False)]
        self.body += self.tell(f"{f}[{tile}]", f"({b}) // {tiles} + 1")
        n = self.number
        self.meant += [
            f"for b in range({self.blocks}):",
            f"    W{n}[b % {tiles}] = {self.meant_combine(f'A{n}[b]', f'W{n}[b % {tiles}]')}",
            f"    F{n}[b % {tiles}] += 1",
        ]

    def collected(self, w: str, count: int, x: str, y: str) -> list[str]:
        """x is the sum of what blocks 0 to `count` - 1 have written."""
        stages = self.rng.choice((1, 2, 3))
        head = self.rng.choice((f"T.serial({count})", f"T.Pipelined({count}, num_stages={stages})"))
        body = [*self.load(w, "k", y), *self.combine(x, y)]
        return [f"T.clear({x})", f"for k in {head}:", *(f"    {line}" for line in body)]

    def meant_collected(self, count: int) -> list[str]:
        n = self.number
        return [
            f"W{n}[:{count}] = A{n}[:{count}]",
            f"for k in range({count}):",
            f"    O{n}[0] = {self.meant_combine(f'O{n}[0]', f'W{n}[k]')}",
        ]

    def collector(self, b: str) -> None:
        last = self.blocks - 1
        w = self.tensor("W", (self.blocks, *self.shape), self.dtype)
        f = self.tensor("F", (1,), "int32")
        o = self.tensor("O", (1, *self.shape), self.dtype)
        x, y = self.operands()
        own = [*self.load(self.a, b, x), *self.store(x, w, b), *self.count_up(f"{f}[0]")]
        rest = [*self.wait(f"{f}[0]", str(last)), *self.collected(w, last, x, y)]
        rest += self.store(x, o, "0")
        self.body += [f"if {b} < {last}:", *(f"    {line}" for line in own)]
        self.body += ["else:", *(f"    {line}" for line in rest)]
        self.meant += [*self.meant_collected(last), f"F{self.number}[0] = {last}"]

    def last(self, b: str) -> None:
        w = self.tensor("W", (self.blocks, *self.shape), self.dtype)
        f = self.tensor("F", (1,), "int32")
        o = self.tensor("O", (1, *self.shape), self.dtype)
        x, y = self.operands()
        seen, order = f"seen{self.number}", self.rng.choice(("acq_rel", "seq_cst"))
        add = f'T.atomic_add({f}[0], 1, memory_order="{order}", return_prev=True)'
        self.body += [*self.load(self.a, b, x), *self.store(x, w, b)]
        if self.names_threads:
            self.made.append(f'{seen} = T.alloc_shared((1,), "int32")')
            self.body += ["if tx == 0:", f"    {seen}[0] = {add}"]
            seen += "[0]"
        else:
            self.made.append(f'{seen} = T.alloc_var("int32")')
            self.body += [f"{seen} = {add}"]
        rest = [*self.collected(w, self.blocks, x, y), *self.store(x, o, "0")]
        self.body += [f"if {seen} == {self.blocks - 1}:", *(f"    {line}" for line in rest)]
        self.meant += [*self.meant_collected(self.blocks), f"F{self.number}[0] = {self.blocks}"]

    def run(self, b: str) -> None:
        self.rng.choice((self.chain, self.chain, self.loop, self.turns, self.collector, self.last))(
            b
        )


def generate(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(f"blocks {seed}")
    grid = rng.choice(GRIDS)
    program = Program(seed, True, {}, (), grid, rng.choice(THREADS), [], [], kind="blocks")
    names_threads = rng.random() < 0.5
    phases = [_Phase(program, rng, n, names_threads) for n in range(rng.choice((1, 1, 2)))]
    b = "bx" if len(grid) == 1 else f"(by * {grid[0]} + bx)"
    for phase in phases:
        phase.run(b)
    lines = [line for phase in phases for line in (*phase.made, *phase.body)]
    binding = ["tx = T.get_thread_binding()"] if names_threads else []
    program.body = [Text([*binding, *lines])]
    program.helpers = _expected(phases)
    return program


def is_sound(program: Program) -> bool:
    """The text says in two ways what a program means: a smaller one would need both."""
    return False


# ---- Text ----


def _expected(phases: list[_Phase]) -> str:
    """The function that computes what the arguments are afterwards."""
    names = [tensor.name for tensor in phases[0].program.tensors]
    lines = ["def expected():", '    """The arguments after the call."""']
    lines += ["    values = arguments()", f"    {', '.join(names)}, = values"]
    lines += [f"    {line}" for phase in phases for line in phase.meant]
    return "\n".join([*lines, "    return values", "", ""])


def emit(program: Program, file: str = "FILE.py") -> str:
    """The text of its file."""
    text = tile_programs.emit(program, file, _arguments)
    return text.replace("differential --seed", "differential --kind blocks --seed", 1)


def _arguments(program: Program) -> list[str]:
    """Inputs are small integers, products move columns of a tile, all else begins with zeros."""
    written = tuple(t.name for t in program.tensors if t.role != "in")
    lines = [f"WRITTEN = {written!r}", "", "", "def arguments():",
             f"    rng = np.random.default_rng({program.seed})", "    return ["]  # fmt: skip
    for tensor in program.tensors:
        shape = tuple(map(int, tensor.shape))
        if tensor.name.startswith("P"):
            made = f'np.eye({shape[0]})[rng.permutation({shape[0]})].astype("{tensor.dtype}")'
        elif tensor.role == "in":
            low = 0 if tensor.dtype.startswith("u") else -2
            made = f'rng.integers({low}, 2, {shape}, endpoint=True).astype("{tensor.dtype}")'
        else:
            made = f'np.zeros({shape}, "{tensor.dtype}")'
        lines.append(f"        {made},  # {tensor.name}")
    return [*lines, "    ]"]
