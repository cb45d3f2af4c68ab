"""Random programs of pipelined loops: bulk copies, matrix products and what stands between them.

Every program has loops that copy pieces of tensors into tiles and use them, 0 to 5 times. Three
seeds of four have shapes for which sm_90a uses TMA and `wgmma`; the others draw any extents.
Tensors are ragged: blocks and iterations reach beyond their edges. Between copies and products
stand loops that read or change the tiles, reductions, stores, branches, and products whose operand
is computed from another product, as in attention. Other tiles are copied once, in front of the
loop. Blocks may form clusters, or be persistent and visit several tiles. Values are small integers,
so that programs are exact in any order of summation, but for float16 sums that round.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from differential import emit as tile_programs
from differential.pipeline_parts import (
    CLUSTERS,
    COLUMNS,
    OTHER_TYPES,
    ROWS,
    TYPES,
    Operand,
    Text,
    Types,
    given_as,
    size_of,
)
from differential.program import (
    Bound,
    Buffer,
    Copy,
    Gemm,
    If,
    Loop,
    Persistent,
    Program,
    Region,
    Stmt,
)


@dataclass
class _Draw:
    """The generator of one seed."""

    program: Program
    rng: random.Random
    is_wide: bool
    results: list[Stmt] = field(default_factory=list)
    starts: list[Stmt] = field(default_factory=list)
    views: list[Stmt] = field(default_factory=list)
    count: int = 0

    # ---- Extents ----

    def extents(self, size: int) -> None:
        rng, program = self.rng, self.program
        steps = [k for k in (16, 32, 64, 128) if 32 <= k * size <= 128]
        if self.is_wide:
            rows, columns, depth = rng.choice(list(ROWS)), rng.choice(COLUMNS), rng.choice(steps)
            program.threads = rng.choice(ROWS[rows])
            if size == 1 and columns % 16:
                columns = 32
        else:
            rows, columns = rng.choice((16, 17, 32, 48, 64)), rng.choice((8, 13, 16, 24, 32))
            depth = rng.choice((8, 16, 16, 32, 24, 12))
        trips = rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))
        unit = 16 // size if self.is_wide or rng.random() < 0.5 else 1
        if rng.random() < (0.25 if self.is_wide else 0.1):
            program.cluster = rng.choice(CLUSTERS)
            trips = max(trips, 2) if rng.random() < 0.8 else trips
        is_dynamic = rng.random() < 0.25
        if is_dynamic and self.is_wide and rng.random() < 0.7:
            unit = max(unit, 16)  # what a call is asked for
        across, down = program.cluster or (1, 1)
        made = {
            "BM": rows, "BN": columns, "BK": depth, "TRIPS": trips,
            "M": self.blocks(rows, down, unit),
            "N": self.blocks(columns, across, unit),
            "K": self.ragged(depth * max(trips, 1), unit),
        }  # fmt: skip
        program.extents.update(made)
        program.grid = ("T.ceildiv(N, BN)", "T.ceildiv(M, BM)")
        if is_dynamic:  # clusters need a grid of constants
            axes = (("K",),) if program.cluster and rng.random() < 0.8 else (
                ("M",), ("K",), ("M", "K"), ("M", "N", "K"))  # fmt: skip
            program.dynamic = tuple(rng.choice(axes))

    def blocks(self, block: int, cluster: int, unit: int) -> int:
        """An extent of one or two blocks, or of one or two clusters of so many blocks."""
        whole = block * self.rng.choice((1, 1, 2))
        if cluster == 1 and not self.program.cluster:
            return self.ragged(whole, unit)
        cut = self.rng.choice((0, 0, 1, 2)) * unit
        return whole * cluster - (cut if cut < block else 0)

    def ragged(self, whole: int, unit: int) -> int:
        """As many as the tiles cover, or some fewer or more, in units."""
        cut = self.rng.choice((0, 0, 1, 2, -1, whole // (3 * unit) or 0))
        return max(unit, (whole // unit - cut) * unit)

    # ---- Tiles ----

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def add(self, name: str, shape: tuple[str, ...], dtype: str, space: str, role: str = "tile",
            largest: int = 3) -> Buffer:  # fmt: skip
        buffer = Buffer(name, shape, dtype, space, role, Bound(largest))
        self.program.buffers.append(buffer)
        return buffer

    def operand(self, stem: str, dims: tuple[str, ...], walked: int, dtype: str,
                largest: int) -> Operand:  # fmt: skip
        """A tile of these dimensions ("M", "N" or "K" each) and its tensor."""
        rng = self.rng
        tile, tensor = self.name(stem), self.name(stem.upper())
        shape = tuple(f"B{dim}" for dim in dims)
        starts = tuple({"M": "by * BM", "N": "bx * BN", "K": "0"}[dim] for dim in dims)
        extents = dims
        if rng.random() < 0.15:
            starts, extents = (rng.choice(("0", "1", "bx % 2")), *starts), ("2", *dims)
        given = self.add(tensor, extents, given_as(dtype), "global", "in", largest)
        if rng.random() < 0.05:
            given.strides = self.strides(extents, size_of(dtype))
        made = Operand(tile, tensor, shape, walked, starts, tile, dtype)
        if len(shape) == 2 and rng.random() < 0.08:
            made.seen = f"{tile}v"
            self.add(tile, (f"{shape[0]} * {shape[1]}",), dtype, "shared")
            self.views.append(Text([f"{made.seen} = T.reshape({tile}, ({shape[0]}, {shape[1]}))"]))
            return made
        buffer = self.add(tile, shape, dtype, "shared")
        row = self.program.extents[shape[-1]]
        if len(shape) == 2 and rng.random() < 0.06 and row * size_of(dtype) % 16 == 0:
            buffer.layout = f"tilewright.layout.make_swizzled_layout({tile})"
        elif len(shape) == 2 and rng.random() < 0.04:
            buffer.layout = f"T.Layout(({', '.join(shape)}), lambda i, j: [i * {row + 8} + j])"
        return made

    def strides(self, extents: tuple[str, ...], size: int) -> tuple[int, ...]:
        """Those of a tensor whose rows have gaps."""
        strides = [1]
        for extent in reversed(extents[1:]):
            gap = self.rng.choice((16 // size, 32 // size, 1, 0))
            strides.insert(0, (self.program.value(extent) + gap) * strides[0])
        return tuple(strides)

    def load(self, operand: Operand, k: str) -> list[Stmt]:
        """Copies of the `k`-th piece."""
        rng = self.rng
        lead = len(operand.starts) - len(operand.shape)
        starts = list(operand.starts)
        if operand.walked >= 0:
            at = lead + operand.walked
            walk = f"{k} * {operand.shape[operand.walked]}"
            starts[at] = walk if starts[at] == "0" else f"{starts[at]} + {walk}"
        if len(operand.shape) == 2 and operand.seen == operand.tile and rng.random() < 0.08:
            return self.halves(operand, starts, lead)
        if rng.random() < 0.2:
            step = 2 if rng.random() < 0.15 else 1
            pairs = enumerate(zip(starts[lead:], operand.shape, strict=True))
            starts[lead:] = [
                f"{start} : {start} + {extent} * 2 : 2" if step == 2 and number == 0
                else f"{start} : {start} + {extent}"
                for number, (start, extent) in pairs
            ]  # fmt: skip
        copy: Stmt = Copy(Region(operand.tensor, tuple(starts)), Region(operand.seen))
        hint = rng.random()
        if hint < 0.05:
            copy = Text([f"{copy.lines()[0][:-1]}, disable_tma=True)"])
        elif hint < 0.4 and self.program.cluster:
            count = self.program.cluster[0] * self.program.cluster[1]
            mask = rng.choice((2**count - 1, rng.randrange(1, 2**count)))
            call = copy.lines()[0].replace("T.copy(", "T.copy_cluster(", 1)
            copy = Text([f"{call[:-1]}, cluster_mask={mask})"])
        return [copy]

    def load_in_some(self, operand: Operand, k: str) -> list[Stmt]:
        """The same, now and then in some iterations only. Others have the tile of the last copy,
        those before the first copy have zeros."""
        copies = self.load(operand, k)
        if self.rng.random() > 0.06:
            return copies
        self.starts.append(Text([f"T.clear({operand.tile})"]))
        return [If(self.rng.choice(self.some_iterations(k)), copies)]

    def some_iterations(self, k: str) -> list[str]:
        """Conditions that tell the first, the last, or some iterations apart."""
        return [f"{k} > 0", f"{k} < 2", f"{k} < 1", f"{k} == 1", f"{k} >= 3", f"{k} % 2 == 0",
                f"{k} % 3 == 1", f"{k} + 1 < T.ceildiv(K, BK)", f"{k} != 2"]  # fmt: skip

    def halves(self, operand: Operand, starts: list[str], lead: int) -> list[Stmt]:
        """The upper and the lower rows of a tile by copies of their own."""
        rows, columns = operand.shape
        middle = self.program.value(rows) // 2
        copies: list[Stmt] = []
        for low, high in (("0", str(middle)), (str(middle), rows)):
            first = f"{starts[lead]} + {low} : {starts[lead]} + {high}"
            second = f"{starts[-1]} : {starts[-1]} + {columns}"
            source = Region(operand.tensor, (*starts[:lead], first, second))
            dest = Region(operand.tile, (f"{low} : {high}", f"0 : {columns}"))
            copies.append(Copy(source, dest))
        return copies

    # ---- Statements of an iteration ----

    def sum_tile(self, shape: tuple[str, ...], dtype: str) -> str:
        """A fragment that starts at zero and is stored in the end."""
        name = self.name("c")
        self.add(name, shape, dtype, "fragment")
        self.starts.append(Text([f"T.clear({name})"]))
        return name

    def reading(self, operand: Operand, k: str) -> list[Stmt]:
        """Something that each thread does with the tile."""
        rng, rank = self.rng, len(operand.shape)
        indices = ("i", "j")[:rank]
        head = f"for {', '.join(indices)} in T.Parallel({', '.join(operand.shape)}):"
        at = ", ".join(indices)
        value = f"{operand.seen}[{at}]"
        if operand.dtype == "bool":
            value = f"T.if_then_else({value}, 1, 0)"
        draw = rng.random()
        if draw < 0.25 and rank == 2 and "float8" not in operand.dtype and operand.dtype != "bool":
            dim = rng.randrange(2)
            total = self.sum_tile((operand.shape[1 - dim],), operand.dtype)
            kind = rng.choice(("max", "sum", "min"))
            if kind == "sum" and operand.dtype in ("uint8", "int8", "bfloat16"):
                kind = "max"
            call = f"T.reduce_{kind}({operand.seen}, {total}, dim={dim}, clear=False)"
            self.result(total, (operand.shape[1 - dim],))
            return [Text([call])]
        dtype = "int32" if rng.random() < 0.3 else "float32"
        total = self.sum_tile(operand.shape, dtype)
        self.result(total, operand.shape)
        conditions = (f"{k} % 2 == 0", "i % 3 == 1", f"i >= {k}", f"{k} < 2")
        condition = f"if {rng.choice(conditions)}:"
        line = f'{total}[{at}] += T.cast({value}, "{dtype}")'
        if rng.random() < 0.2:
            return [Text([head, f"    {condition}", f"        {line}"])]
        return [Text([head, f"    {line}"])]

    def changing(self, operand: Operand) -> list[Stmt]:
        """The tile is another before it is used."""
        sign = self.rng.choice(("+ 1", "- 1") if not operand.dtype.startswith("u") else ("+ 1",))
        indices = ", ".join(("i", "j")[: len(operand.shape)])
        place = f"{operand.seen}[{indices}]"
        head = f"for {indices} in T.Parallel({', '.join(operand.shape)}):"
        wide = "int64" if "int" in operand.dtype else "float32"  # a rounded integer is undecided
        value = f'T.cast({place}, "{wide}") {sign}'
        return [Text([head, f'    {place} = T.cast({value}, "{operand.dtype}")'])]

    def operands(self, types: Types, transpose_a: bool, transpose_b: bool) -> tuple:
        """A and B of a product; sometimes one of them is copied in front of the loop."""
        rng = self.rng
        a = self.operand("a", ("K", "M") if transpose_a else ("M", "K"), 0 if transpose_a else 1,
                         types.a, types.largest)  # fmt: skip
        b = self.operand("b", ("N", "K") if transpose_b else ("K", "N"), 1 if transpose_b else 0,
                         types.b, types.largest)  # fmt: skip
        if rng.random() < 0.12:
            held = rng.choice((a, b))
            held.is_held, held.walked = True, -1
            self.starts += self.load(held, "")
        return a, b

    def product(self, types: Types, k: str) -> list[Stmt]:
        """Two operands, their copies, and a product; sometimes a second one of its result."""
        rng = self.rng
        transpose_a, transpose_b = rng.random() < 0.3, rng.random() < 0.5
        if size_of(types.a) != 2 and self.is_wide and rng.random() < 0.8:
            transpose_a, transpose_b = False, True  # the only direction of 8 and 32 bits
        a, b = self.operands(types, transpose_a, transpose_b)
        c = self.sum_tile(("BM", "BN"), types.sums)
        copied = [operand for operand in (a, b) if not operand.is_held]
        body = [stmt for operand in copied for stmt in self.load_in_some(operand, k)]
        if rng.random() < 0.12 and types.sums != "float16":
            body += self.changing(rng.choice(copied))
        if rng.random() < 0.2:
            body += self.reading(rng.choice((a, b)), k)
        left = a.seen
        if rng.random() < 0.12:
            left = self.name("f")
            self.add(left, a.shape, types.a, "fragment")
            body.append(Copy(Region(a.seen), Region(left)))
        if rng.random() < 0.08:  # the product need not read zeros
            body.append(Text([f"T.clear({c})"]))
        policy = rng.choice(("FullRow", "FullCol")) if rng.random() < 0.05 else ""
        gemm = Gemm(left, b.seen, c, transpose_a, transpose_b,
                    rng.choice(("", "", "", "", f"{k} == 0", "True")), policy)  # fmt: skip
        conditions = [*self.some_iterations(k), "bx == 0", "bx == 0"]
        if self.program.cluster:
            conditions += ["T.block_rank_in_cluster() == 0"] * 3
        body.append(If(rng.choice(conditions), [gemm]) if rng.random() < 0.08 else gemm)
        if rng.random() < 0.25 and not types.rounds:
            body += self.chained(c, types, k)
        if rng.random() < 0.15:
            body += self.reading(rng.choice((a, b)), k)
        if rng.random() < 0.12 and types.sums != "float16":
            self.shifted(c)
        self.result(c, ("BM", "BN"), ("by * BM", "bx * BN"), ("M", "N"))
        return body

    def shifted(self, c: str) -> None:
        """A row that is copied once is added to the sums after the loop."""
        dtype = self.rng.choice(OTHER_TYPES[1:])
        row = self.operand("r", ("N",), -1, dtype, 3)
        self.starts += self.load(row, "")
        sums = self.program.buffer(c).dtype
        line = f'{c}[i, j] = T.max({c}[i, j] + T.cast({row.seen}[j], "{sums}"), 0)'
        self.results.append(Text(["for i, j in T.Parallel(BM, BN):", f"    {line}"]))

    def chained(self, c: str, types: Types, k: str) -> list[Stmt]:
        """The signs of a product times another tile, as attention multiplies by V."""
        rng, dtype = self.rng, types.b
        p, d = self.name("p"), self.sum_tile(("BM", "BD"), types.sums)
        self.program.extents.setdefault("BD", rng.choice((16, 32, 64)) if self.is_wide else 16)
        self.add(p, ("BM", "BN"), dtype, rng.choice(("fragment", "fragment", "shared")))
        v, tensor = self.name("v"), self.name("V")
        length = str(self.ragged(3 * self.program.extents["BN"], 16 // size_of(dtype)))
        is_turned = size_of(dtype) != 2 and rng.random() < 0.8
        shape, extents, starts = ("BN", "BD"), (length, "BD"), (f"{k} * BN", "0")
        if is_turned:
            shape, extents, starts = shape[::-1], extents[::-1], starts[::-1]
        self.add(v, shape, dtype, "shared")
        self.add(tensor, extents, given_as(dtype), "global", "in", types.largest)
        line = f'{p}[i, j] = T.cast(T.if_then_else({c}[i, j] > 0, 1, 0), "{dtype}")'
        copy: Stmt = Copy(Region(tensor, starts), Region(v))
        signs: Stmt = Text(["for i, j in T.Parallel(BM, BN):", f"    {line}"])
        body = [copy, signs] if rng.random() < 0.7 else [signs, copy]
        self.result(d, ("BM", "BD"))
        return [*body, Gemm(p, v, d, False, is_turned)]

    def other(self, k: str) -> list[Stmt]:
        """A tile that a loop reads and no product."""
        rng = self.rng
        dtype = rng.choice(OTHER_TYPES)
        dims = rng.choice((("M", "K"), ("K", "N"), ("M", "N"), ("M",), ("K",)))
        walked = dims.index("K") if "K" in dims else -1
        operand = self.operand("s", dims, walked, dtype, 1 if dtype == "bool" else 3)
        return [*self.load(operand, k), *self.reading(operand, k)]

    def once(self) -> None:
        """A tile that is copied in front of the loop and read there, or after it."""
        rng = self.rng
        dtype = rng.choice(OTHER_TYPES)
        dims = rng.choice((("M", "K"), ("K", "N"), ("M", "N"), ("N",), ("M",), ("K",)))
        operand = self.operand("h", dims, -1, dtype, 1 if dtype == "bool" else 3)
        self.starts += self.load(operand, "")
        if rng.random() < 0.3 and dtype != "bool":
            self.starts += self.changing(operand)
        later: list[Stmt] = []
        read = self.reading(operand, "1")
        (self.starts if rng.random() < 0.3 else later).extend(read)
        self.results[:0] = later

    # ---- Loops ----

    def trips(self, outer: str) -> str:
        rng = self.rng
        choices = ["T.ceildiv(K, BK)", "T.ceildiv(K, BK)", "TRIPS", "COUNT[0]", "COUNT[by]"]
        if self.program.cluster:  # blocks share copies in loops that they all run alike
            choices = [*choices[:3] * 2, *choices[3:], "COUNT[T.block_rank_in_cluster()]"]
        if outer:
            choices += [outer, f"TRIPS - {outer}", f"COUNT[{outer}]"]
        return rng.choice(choices)

    def loop(self, outer: str, types: Types) -> Stmt:
        rng, k = self.rng, self.name("k")
        body: list[Stmt] = []
        if self.is_wide or rng.random() < 0.6:
            body += self.product(types, k)
        if rng.random() < 0.15:
            body += self.product(types, k)
        if not body or rng.random() < 0.2:
            more = self.other(k)
            body = [*more, *body] if rng.random() < 0.5 else [*body, *more]
        if rng.random() < 0.04:
            body.insert(rng.randrange(len(body) + 1), Text(["T.sync_threads()"]))
        if self.program.cluster and rng.random() < 0.1:
            body.insert(rng.randrange(len(body) + 1), Text(["T.cluster_sync()"]))
        kind = "serial" if rng.random() < 0.06 else "pipelined"
        stages = rng.choice((2, 2, 3, 4) if self.program.cluster else (1, 2, 2, 3, 3, 4, 5, 6))
        return Loop(kind, k, self.trips(outer), body, stages)

    def result(self, tile: str, shape: tuple[str, ...], starts: tuple[str, ...] = (),
               extents: tuple[str, ...] = ()) -> None:  # fmt: skip
        """Stores a tile in the end: in its place of a matrix, or in the block's own part."""
        rng = self.rng
        dtype = self.program.buffer(tile).dtype
        out = self.name("O")
        if not starts:
            blocks = "((N + BN - 1) // BN)"
            starts = ("by", "bx", *("0" for _ in shape))
            extents = ("((M + BM - 1) // BM)", blocks, *shape)
        self.add(out, extents, given_as(dtype), "global", "own")
        source = tile
        if rng.random() < 0.15:
            source = self.name("o")
            self.add(source, shape, dtype, "shared")
            self.results.append(Copy(Region(tile), Region(source)))
        if dtype in ("float32", "int32") and rng.random() < 0.1:
            lead = len(starts) - len(shape)
            slices = [f"{s} : {s} + {e}" for s, e in zip(starts[lead:], shape, strict=True)]
            region = Region(out, (*starts[:lead], *slices))
            self.results.append(Text([f"T.atomic_add({region}, {source})"]))
        else:
            self.results.append(Copy(Region(source), Region(out, starts)))

    def run(self) -> Program:
        rng, program = self.rng, self.program
        types = rng.choice(TYPES)
        program.exact = not types.rounds
        self.extents(size_of(types.a))
        self.add("COUNT", ("64",), "int32", "global", "in", 5)
        # Sums that round are undecided where their radii become infinite.
        outer = self.name("r") if rng.random() < 0.25 and not types.rounds else ""
        body = [self.loop(outer, types) for _ in range(rng.choice((1, 1, 1, 2)))]
        if rng.random() < 0.15:
            self.once()
        if outer:
            inside = [*self.starts, *body, *self.results] if rng.random() < 0.3 else body
            if inside is not body:
                self.starts, self.results = [], []
            body = [Loop(rng.choice(("serial", "serial", "unroll")), outer,
                         rng.choice(("1", "2", "3", "COUNT[1]")), inside)]  # fmt: skip
            if "COUNT" in body[0].trips:
                body[0].kind = "serial"
        named = {extent for tensor in program.tensors for extent in tensor.shape}
        program.dynamic = tuple(name for name in program.dynamic if name in named)
        program.body = [*self.views, *self.starts, *body, *self.results]
        self.launch()
        return program

    def launch(self) -> None:
        """What a kernel says of its blocks."""
        rng, program = self.rng, self.program
        if program.cluster:
            if rng.random() < 0.2:
                place = rng.choice((0, len(program.body)))
                program.body.insert(place, Text(["T.cluster_arrive()", "T.cluster_wait()"]))
        elif rng.random() < 0.1:
            domain = (program.grid[1], program.grid[0])
            workers = rng.choice(("1", "2", "3"))
            tiles = Persistent(("by", "bx"), domain, workers, program.body)
            program.body, program.grid = [tiles], (workers,)
            return
        if rng.random() < 0.04:
            program.body.insert(0, Text(["T.use_swizzle(2)"]))
        if rng.random() < 0.04:
            program.body.insert(0, Text(["T.pdl_sync()"]))
            program.body.append(Text(["T.pdl_trigger()"]))


def generate(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(f"pipelines {seed}")
    is_wide = seed % 4 != 3
    threads = 128 if is_wide else rng.choice((32, 64, 128, 128, 256))
    program = Program(seed, True, {}, (), (), threads, [], [], kind="pipelines")
    return _Draw(program, rng, is_wide).run()


def is_sound(program: Program) -> bool:
    """Whether a program that was made smaller is still one."""
    return bool(program.body)


# ---- Text ----


def emit(program: Program, file: str = "FILE.py") -> str:
    """The text of its file."""
    text = tile_programs.emit(program, file, _arguments)
    return text.replace("differential --seed", "differential --kind pipelines --seed", 1)


#: The text of a function that gives a tensor the strides that its kernel declares.
_APART = '''\
def apart(array, strides):
    """The array with gaps between its rows."""
    last = sum((n - 1) * stride for n, stride in zip(array.shape, strides, strict=True))
    room = np.full(last + 1, 1, array.dtype)
    steps = [stride * array.itemsize for stride in strides]
    view = np.ndarray(array.shape, array.dtype, room, strides=steps)
    view[...] = array
    return view


'''


def _arguments(program: Program) -> list[str]:
    """Inputs are small integers, results begin with others; COUNT holds numbers of iterations."""
    written = tuple(t.name for t in program.tensors if t.role != "in")
    lines = _APART.splitlines() if any(t.strides for t in program.tensors) else []
    lines += [f"WRITTEN = {written!r}", "", "", "def arguments():",
              f"    rng = np.random.default_rng({program.seed})", "    return ["]  # fmt: skip
    for tensor in program.tensors:
        shape = tuple(program.value(extent) for extent in tensor.shape)
        largest = int(tensor.bound.magnitude)
        low = 0 if tensor.dtype.startswith("u") or tensor.name == "COUNT" else -largest
        draw = f"rng.integers({low}, {largest}, {shape}, endpoint=True)"
        draw += f'.astype("{tensor.dtype}")'
        if tensor.strides:
            draw = f"apart({draw}, {tuple(tensor.strides)})"
        lines.append(f"        {draw},  # {tensor.name}")
    return [*lines, "    ]"]
