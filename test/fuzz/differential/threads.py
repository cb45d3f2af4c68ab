"""Random programs that name their threads (docs/semantics.md).

They use `T.get_thread_binding`, variables and arrays of threads (of the kernel, and of a branch or
loop), shared tiles and a tensor that threads hand values over in, branches and loops that differ
between threads, `while`, `break` and `continue`, macros, shuffles, votes, atomics, tile statements
of the whole block or of a role, and barriers. Every value that is kept is an
integer of few bits (`& 1023`), so that all engines owe the same bits. What such a program means is
decided twice: by the interpreter, and by `lockstep.py`, which knows nothing of the front end.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from differential import emit as tile_programs
from differential.program import Bound, Buffer, If, Loop, Program, Stmt, render_block

WARP = 32
GROUP = 128  # threads of T.ws
LOCALS = 4
ROWS = ("x", "y", "u", "s0[tx]", "s1[tx]", 'T.cast(f0[tx], "int32")', "mine[0]", "mine[3]")
SHARED = ("s0", "s1", "f0")
#: What programs call. `lockstep.py` knows what they mean.
MACROS = """@T.macro
def scaled(value, factor):
    return (value & 1023) * factor + 1


@T.macro
def keep(tile, at, value):
    kept = T.alloc_var("int32", init=value)
    tile[at] = kept


"""


@dataclass
class Line(Stmt):
    """A statement of one or several lines, as text."""

    text: str

    def lines(self) -> list[str]:
        return self.text.splitlines()


@dataclass
class Role(Stmt):
    """`with T.ws(group):`, the statements of one group of warps."""

    group: int
    body: list[Stmt]

    def blocks(self) -> list[list[Stmt]]:
        return [self.body]

    def lines(self) -> list[str]:
        return [f"with T.ws({self.group}):", *render_block(self.body)]


@dataclass
class While(Stmt):
    """A loop that counts a variable of its own down, first of all: `continue` ends too."""

    variable: str
    trips: str
    body: list[Stmt]

    def blocks(self) -> list[list[Stmt]]:
        return [self.body]

    def lines(self) -> list[str]:
        name = self.variable
        return [f'{name} = T.alloc_var("int32", init={self.trips})', f"while {name} > 0:",
                f"    {name} = {name} - 1", *render_block(self.body)]  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where a statement stands. `who` comes there together: "block" (all threads, or none), "warps"
    (whole warps, as the thread index and constants decide), "threads" (any), or "private" (any, at
    any time: a loop that threads leave when they like). `parity` is the phase that a barrier is in
    which is passed once in each trip of the loops around; None where that is not known. `own` are
    variables and arrays (of two elements) of threads that were allocated here or around. `is_loop`
    where `continue` may stand."""

    who: str = "block"
    depth: int = 0
    variables: tuple[str, ...] = ()
    parity: str | None = "0"
    own: tuple[str, ...] = ()
    is_loop: bool = False

    def inside(self, who: str) -> Place:
        order = ("block", "warps", "threads", "private")
        return replace(
            self, who=max(self.who, who, key=order.index), depth=self.depth + 1, parity=None
        )


def generate(seed: int) -> Program:
    """The program of a seed."""
    return _Generator(seed).run()


def emit(program: Program, file: str = "FILE.py") -> str:
    """The text of its file."""
    text = tile_programs.emit(program, file)
    return text.replace("differential --seed", "differential --kind threads --seed", 1)


def is_sound(program: Program) -> bool:
    """Whether a program that was made smaller has an element for each thread. Values need no check:
    they are cut where they are kept, whatever stands around."""
    return program.extents["N"] == program.threads and program.extents["R"] == len(ROWS)


class _Generator:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(f"threads {seed}")
        self.threads = self.rng.choice((32, 32, 64, 128, 256))
        grid = self.rng.choice((1, 1, 2))
        extents = {"G": grid, "N": self.threads, "R": len(ROWS)}
        self.program = Program(seed, True, extents, (), ("G",), self.threads, [], [],
                               kind="threads")  # fmt: skip
        self.count = 0
        self.barriers: list[Stmt] = []

    def run(self) -> Program:
        program = self.program
        program.buffers = [
            Buffer("A", ("G", "N"), "int32", "global", "in", Bound(50)),
            Buffer("B", ("G", "N", str(LOCALS)), "int32", "global", "in", Bound(500)),
            Buffer("W", ("G", "N"), "int32", "global", "own", Bound(1000)),
            Buffer("O", ("G", "R", "N"), "int32", "global", "own", Bound(1000)),
            *(Buffer(s, ("N",), "float32" if s == "f0" else "int32", "shared", "tile", Bound(1000))
              for s in SHARED),
            Buffer("row", ("N",), "int32", "fragment", "tile", Bound(1000)),
            Buffer("one", ("1",), "int32", "fragment", "tile", Bound(1000)),
        ]  # fmt: skip
        body = self.block(Place(), self.rng.randint(5, 14))
        program.helpers = MACROS
        program.body = [*self.preamble(), *self.barriers, *body]
        program.body += [Line(f"O[bx, {row}, tx] = {value}") for row, value in enumerate(ROWS)]
        return program

    def preamble(self) -> list[Stmt]:
        """Declarations, and values for all that may be read."""
        lines = ["tx = T.get_thread_binding()", f'mine = T.alloc_local(({LOCALS},), "int32")']
        lines += [f'{name} = T.alloc_var("int32", init={n})' for n, name in enumerate("xyu", 1)]
        lines.append(self.rng.choice(("T.clear(mine)", "T.copy(B[bx, tx, 0:4], mine)")))
        lines += [self.fill(name) for name in SHARED]
        return [Line(line) for line in lines]

    def block(self, place: Place, count: int) -> list[Stmt]:
        body: list[Stmt] = []
        for _ in range(count):
            draw = self.rng.random()
            if draw < 0.12:
                stmt, place = self.declaration(place)
            elif draw < 0.2 and place.is_loop:
                stmt, place = self.jump(place)
            else:
                stmt = self.statement(place)
            body.append(stmt)
        return body

    def declaration(self, place: Place) -> tuple[Stmt, Place]:
        """A variable or an array of threads, for what follows in this block."""
        self.count += 1
        if self.rng.random() < 0.6:
            name = f"v{self.count}"
            text = f'{name} = T.alloc_var("int32", init={self.small(place)})'
        else:
            name = f"l{self.count}"
            text = f'{name} = T.alloc_local((2,), "int32")\n{name}[0] = {self.small(place)}'
            text += f"\n{name}[1] = {self.small(place)}"
        return Line(text), replace(place, own=(*place.own, name))

    def jump(self, place: Place) -> tuple[Stmt, Place]:
        """The rest of the trip is for those who stay."""
        if place.who == "block" and self.rng.random() < 0.3:
            return If(f"u < {self.rng.randrange(32)}", [Line("continue")], []), place
        who = "private" if place.who == "private" else "threads"
        return If(self.thread_condition(), [Line("continue")], []), replace(place, who=who)

    # ---- Expressions ----

    def permutation(self) -> str:
        """An index that differs between any two threads."""
        k = self.rng.randrange(1, self.threads)
        forms = ("tx", "N - 1 - tx", f"(tx * 5 + {k}) % N", f"tx ^ {k}", f"(tx + {k}) % N")
        return self.rng.choice(forms)

    def index(self) -> str:
        """Any index of a thread."""
        forms = (self.permutation(), str(self.rng.randrange(self.threads)), f"x & {WARP - 1}",
                 "(tx + y) % N", "tx // 4", "tx // 32")  # fmt: skip
        return self.rng.choice(forms)

    def load(self) -> str:
        source, index = self.rng.choice(("s0", "s1", "f0", "A", "W")), self.index()
        if source == "f0":
            return f'T.cast(f0[{index}], "int32")'
        return f"{source}[bx, {index}]" if source in "AW" else f"{source}[{index}]"

    def leaf(self, place: Place) -> str:
        leaves = ["tx", "x", "y", "u", "bx", str(self.rng.randrange(-5, 6)), *place.variables]
        leaves += [f"mine[{self.rng.randrange(LOCALS)}]", f"mine[x & {LOCALS - 1}]"]
        leaves += [self.own_element(name) for name in place.own]
        return self.rng.choice(leaves)

    def own_element(self, name: str) -> str:
        return name if name.startswith("v") else f"{name}[{self.rng.choice(('0', '1', 'y & 1'))}]"

    def value(self, place: Place, depth: int = 0) -> str:
        """Any integer. Where threads come at any time, nothing that others write."""
        draw = self.rng.random()
        if depth > 1 or draw < 0.4:
            return self.leaf(place)
        if draw < 0.6:
            return f"A[bx, {self.index()}]" if place.who == "private" else self.load()
        if draw < 0.66:
            first, second = self.small(place, 63), self.small(place, 63)
            return f"T.{self.rng.choice(('max', 'min'))}({first}, {second})"
        if draw < 0.72:
            first, second = (self.value(place, depth + 1) for _ in range(2))
            return f"T.if_then_else({self.thread_condition()}, {first}, {second})"
        if draw < 0.75:
            return f"scaled({self.leaf(place)}, {self.rng.randrange(5)})"
        first, second = (self.value(place, depth + 1) for _ in range(2))
        return f"({first} {self.rng.choice('+-*')} {second})"

    def small(self, place: Place, mask: int = 1023) -> str:
        return f"{self.value(place, 1)} & {mask}"

    def thread_condition(self) -> str:
        k = self.rng.randrange(1, self.threads)
        return self.rng.choice((f"tx < {k}", "tx % 2 == 0", f"tx % 7 != {k % 7}",
                                f"x > {8 * k}", "y < x", f"mine[1] <= {k}"))  # fmt: skip

    # ---- Statements ----

    def statement(self, place: Place) -> Stmt:
        self.count += 1
        choices = [(self.assignment, 5)]
        if place.who != "private":
            choices += [(self.store, 4), (self.atomic, 2), (self.constant, 1), (self.sync, 1)]
        if place.who in ("block", "warps"):
            choices += [(self.shuffle, 2), (self.vote, 1), (self.tile, 2)]
        if place.who == "block":
            choices += [(self.common, 1), (self.count_threads, 1)]
            if place.parity is not None:
                choices += [(self.handover, 1)]
        if place.depth < 2:
            choices += [(self.branch, 3), (self.loop, 3)]
        makers, weights = zip(*choices, strict=True)
        return self.rng.choices(makers, weights)[0](place)

    def assignment(self, place: Place) -> Stmt:
        draw = self.rng.random()
        if place.own and draw < 0.3:
            return Line(f"{self.own_element(self.rng.choice(place.own))} = {self.small(place)}")
        if draw < 0.6:
            return Line(f"{self.rng.choice('xy')} = {self.small(place)}")
        if draw < 0.9:
            index = self.rng.choice((str(self.rng.randrange(LOCALS)), f"y & {LOCALS - 1}"))
            return Line(f"mine[{index}] = {self.small(place, 255)}")
        return Line(self.rng.choice(("T.fill(mine, 3)", "T.copy(B[bx, tx, 0:4], mine)")))

    def store(self, place: Place) -> Stmt:
        """Each thread stores an element of its own, which is another one each time."""
        target = self.rng.choice(("s0", "s1", "f0", "W"))
        block = "bx, " if target == "W" else ""
        value = self.small(place)
        if target == "f0":
            value = f'T.cast({value}, "float32")'
        if target in ("s0", "s1") and self.rng.random() < 0.2:
            return Line(f"keep({target}, {self.permutation()}, {value})")
        return Line(f"{target}[{block}{self.permutation()}] = {value}")

    def atomic(self, place: Place) -> Stmt:
        """A sum or maximum, which has no order; what was there before is asked for by one thread
        alone."""
        target = self.rng.choice(SHARED)
        value = self.small(place, 7)
        if target != "f0" and self.rng.random() < 0.3:
            update = f"T.atomic_add({target}[{self.permutation()}], {value}, return_prev=True)"
            return Line(f"y = {update} & 1023")
        if target == "f0":
            value = f'T.cast({value}, "float32")'
        index = self.rng.choice(
            (self.permutation(), "tx // 4", "(tx * 3) % N", "(x + tx // 2) % N")
        )
        kind = "add" if target == "f0" else self.rng.choice(("add", "add", "max"))
        return Line(f"T.atomic_{kind}({target}[{index}], {value})")

    def constant(self, place: Place) -> Stmt:
        """A store with nothing of a thread in it."""
        target = self.rng.choice(SHARED)
        return Line(f"{target}[{self.rng.randrange(self.threads)}] = {self.count}")

    def sync(self, place: Place) -> Stmt:
        return Line("T.sync_threads()" if place.who == "block" else "T.sync_warp()")

    def common(self, place: Place) -> Stmt:
        """A variable that all threads have alike."""
        step = self.rng.choice(("3", "bx", *place.variables))
        return Line(f"u = (u + {step}) & 31")

    def shuffle(self, place: Place) -> Stmt:
        k, width = self.rng.randrange(1, WARP), self.rng.choice((8, 16, WARP))
        forms = (
            f"T.shfl_xor(x, {k})", f"T.shfl_down(x, {k % 5}, {width})",
            f"T.shfl_up(y, {k % 5}, {width})", f"T.shfl_sync(y, (tx + {k}) % 32)",
            "T.warp_reduce_sum(x & 15)", "T.warp_reduce_max(x)", "T.warp_reduce_min(y)",
        )  # fmt: skip
        return Line(f"{self.rng.choice('xy')} = {self.rng.choice(forms)}")

    def vote(self, place: Place) -> Stmt:
        """Of the threads of a warp."""
        kind = self.rng.choice(("any_sync", "all_sync", "ballot"))
        return Line(f'y = T.cast(T.{kind}({self.thread_condition()}), "int32") & 1023')

    def count_threads(self, place: Place) -> Stmt:
        """Of the threads of the block."""
        kind = self.rng.choice(("count", "and", "or"))
        return Line(f"x = T.syncthreads_{kind}({self.thread_condition()})")

    def fill(self, target: str) -> str:
        return f"T.fill({target}, {self.rng.randrange(6)})"

    def tile(self, place: Place) -> Stmt:
        """A statement of the whole block."""
        k = self.rng.randrange(self.threads)
        ints = ["s0", "s1"]
        self.rng.shuffle(ints)
        first, second = ints
        reduction = (
            f"T.copy({first}, row)\nT.reduce_{self.rng.choice(('sum', 'max'))}(row, one, dim=0)\n"
            f"T.copy(one, {second}[{k}:{k + 1}])"
        )
        return Line(self.rng.choice((
            self.fill(self.rng.choice(SHARED)),
            f"T.copy({first}, {second})",
            f"T.copy(A[bx, 0:N], {first})",
            f"T.cumsum({first})",
            reduction,
            f"for p in T.Parallel(N):\n    {first}[p] = ({second}[N - 1 - p] * 3 + p) & 1023",
            f"for p in T.Parallel(N):\n    if p % 3 != 1:\n        {first}[p] += {k}",
        )))  # fmt: skip

    def branch(self, place: Place) -> Stmt:
        """Of all threads, of whole warps, of a role, or of any threads."""
        rng = self.rng
        who = rng.choice(("block", "warps", "threads", "threads"))
        if who == "warps" and self.threads > GROUP and rng.random() < 0.5:
            body = self.block(place.inside(who), rng.randint(1, 3))
            return Role(rng.randrange(self.threads // GROUP), body)
        warps = self.threads // WARP
        condition = {
            "block": f"u < {rng.randrange(32)}",
            "warps": rng.choice((f"tx < {WARP * rng.randint(1, warps)}",
                                 f"tx // 32 == {rng.randrange(warps)}")),
            "threads": self.thread_condition(),
        }[who]  # fmt: skip
        inside = place.inside(who)
        orelse = self.block(inside, rng.randint(1, 2)) if rng.random() < 0.4 else []
        return If(condition, self.block(inside, rng.randint(1, 3)), orelse)

    def loop(self, place: Place) -> Stmt:
        """All threads go round equally often, or each as often as it likes."""
        rng = self.rng
        variable = f"i{len(place.variables)}"
        draw = rng.random()
        if draw < 0.3 or place.who == "private":
            inside = place.inside("private")
            trips = rng.choice(("x & 3", "y % 3", "tx % 4"))
        elif draw < 0.5:
            inside = place.inside("block")
            trips = "u & 3"
        else:
            trips = str(rng.randint(1, 4))
            # One barrier, passed once a trip: the phases alternate over all trips.
            known = place.parity is not None and (place.parity == "0" or int(trips) % 2 == 0)
            inside = replace(place.inside("block"), parity=f"{variable} % 2" if known else None)
        leaves = rng.random() < 0.15  # in the middle: no trip is for all threads
        if leaves and inside.who != "private":
            inside = replace(inside, who="threads", parity=None)
        inside = replace(inside, is_loop=True)
        if rng.random() < 0.2:
            self.count += 1
            name = f"w{self.count}"
            body = self.block(replace(inside, parity=None), rng.randint(1, 3))
            return While(name, trips, self.leaving(body) if leaves else body)
        inside = replace(inside, variables=(*place.variables, variable))
        kind = "unroll" if trips.isdigit() and rng.random() < 0.2 else "serial"
        body = self.block(inside, rng.randint(1, 3))
        return Loop(kind, variable, trips, self.leaving(body) if leaves else body)

    def leaving(self, body: list[Stmt]) -> list[Stmt]:
        """The body, with a `break` somewhere."""
        at = self.rng.randint(0, len(body))
        return [*body[:at], If(self.thread_condition(), [Line("break")], []), *body[at:]]

    def handover(self, place: Place) -> Stmt:
        """One side writes, and arrives at a barrier that the other waits for."""
        barrier = f"ready{len(self.barriers)}"
        half = self.threads // 2
        self.barriers.append(Line(f"{barrier} = T.alloc_barrier({half})"))
        target, value = self.rng.choice(("s0", "s1")), self.small(place)
        return Line(
            f"if tx < {half}:\n    {target}[tx] = {value}\n    T.barrier_arrive({barrier})\n"
            f"else:\n    T.barrier_wait({barrier}, {place.parity})\n"
            f"    x = {target}[tx - {half}] & 1023"
        )
