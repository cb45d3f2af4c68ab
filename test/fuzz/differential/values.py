"""Random programs of values: every dtype, every edge of it, every way to a number.

Each iteration of a loop computes a few values from inputs of any dtype and stores them to results
of any dtype. Inputs lie in tensors, tiles and views of another dtype; expressions mix dtypes,
literals, index values and macros; variables, branches and loops carry values; a function may hold
several kernels and its tensors may have run-time extents. All operations round once, so that all
engines owe the same bits; what they are, `meaning.py` computes from the text.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from differential import emit as tile_programs
from differential.program import Bound, Buffer, Expr, Program, Stmt, render_block
from differential.promotion import meet
from differential.threads import Line
from differential.typed_numbers import INTEGERS, bits_of, is_float

FLOATS = ("float16", "bfloat16", "float32", "float64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
DTYPES = ("bool", *INTEGERS, *FLOAT8, *FLOATS, "tfloat32")
#: Bytes of an element.
SIZES = {d: (1 if d in ("bool", *FLOAT8) else 4 if d == "tfloat32" else bits_of(d) // 8)
         for d in DTYPES}  # fmt: skip
DIVISORS = ("1", "2", "3", "7", "8", "100", "-1", "-2", "-3", "-8")
MACROS = """@T.macro
def weighed(x, y):
    return x * 3 - y


@T.macro
def either(x, y):
    kept = x
    if x < y:
        kept = y
    return kept


"""


def meet_of(a: str, b: str) -> str:
    """The dtype in which two values meet."""
    a, b = ("float32" if d == "tfloat32" else d for d in (a, b))
    if a != b and "float8" in a and "float8" in b:
        return "float32"
    return a if a == b else meet(a, b)


@dataclass(frozen=True)
class Value(Expr):
    """An expression; `data` is its text, `{0}` the first operand. A number of the program has the
    dtype "number", an index value "index"."""

    def text(self) -> str:
        return self.data.format(*(arg.text() for arg in self.args))


def leaf(text: str, dtype: str) -> Value:
    return Value("leaf", dtype, (), text.replace("{", "{{").replace("}", "}}"))


@dataclass
class Assign(Stmt):
    """`target = value`, or another assignment."""

    target: str
    value: Expr
    sign: str = "="

    def lines(self) -> list[str]:
        return [f"{self.target} {self.sign} {self.value.text()}"]


@dataclass
class Nest(Stmt):
    """A statement with a body."""

    head: str
    body: list[Stmt]
    before: str = ""

    def blocks(self) -> list[list[Stmt]]:
        return [self.body]

    def lines(self) -> list[str]:
        return [*self.before.splitlines(), self.head, *render_block(self.body)]


def generate(seed: int) -> Program:
    """The program of a seed."""
    return _Generator(seed).run()


def is_sound(program: Program) -> bool:
    """A program that was made smaller may be refused; the interpreter says so."""
    return bool(program.body)


class _Generator:
    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(f"values {seed}")
        threads = rng.choice((32, 64, 128))
        size = rng.choice((1, 7, 16, 32, 40, 64))
        length = size * rng.choice((1, 2)) - rng.choice((0, 0, 1, 3))
        self.extents = {"N": size, "L": max(1, length)}
        self.is_dynamic = rng.random() < 0.25
        self.program = Program(seed, True, self.extents, ("L",) if self.is_dynamic else (),
                               ("T.ceildiv(L, N)",), threads, [], [], kind="values")  # fmt: skip
        self.inputs: list[tuple[str, str]] = []  # text of an element, dtype
        self.earlier: list[tuple[str, str]] = []  # results of the kernel before
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def run(self) -> Program:
        rng, program = self.rng, self.program
        few = rng.sample(DTYPES, rng.randint(2, 5))
        for number in range(rng.randint(2, 4)):
            self.input(f"A{number}", rng.choice(few))
        results = [(f"B{n}", rng.choice(few)) for n in range(rng.randint(1, 3))]
        for name, dtype in results:
            program.buffers.append(Buffer(name, ("L",), dtype, "global", "own", Bound(0)))
        kernels = [results]
        if len(results) > 1 and rng.random() > 0.7:
            kernels = [results[:1], results[1:]]
        for number, some in enumerate(kernels):
            program.body.append(self.kernel(some))
            if number == 0 and len(kernels) > 1:
                self.earlier = list(some)
        return program

    # ---- Operands ----

    def input(self, name: str, dtype: str) -> None:
        self.program.buffers.append(Buffer(name, ("L",), dtype, "global", "in", Bound(0)))

    def kernel(self, results: list[tuple[str, str]]) -> Stmt:
        """A kernel that writes some results."""
        rng = self.rng
        prologue: list[Stmt] = []
        self.inputs = []
        shape = self.draw_loop()
        for buffer in self.program.buffers:
            if buffer.role == "in" or (buffer.name, buffer.dtype) in self.earlier:
                self.inputs.append((self.operand(buffer, prologue), buffer.dtype))
        body: list[Stmt] = []
        self.names: list[tuple[str, str]] = []
        self.variables: list[tuple[str, str]] = []
        for _ in range(rng.randint(0, 3)):
            body += self.statement(2)
        epilogue: list[Stmt] = []
        for name, dtype in results:
            body.append(self.result(name, dtype, prologue, epilogue))
        loop = Nest(shape, body)
        head = f"with T.Kernel(T.ceildiv(L, N), threads={self.program.threads}) as bx:"
        return Nest(head, [*prologue, loop, *epilogue])

    def draw_loop(self) -> str:
        """The head of the loop; `self.at` is the number of the iteration."""
        size = self.extents["N"]
        rows = [r for r in (2, 4, 8) if size % r == 0]
        if rows and self.rng.random() < 0.3:
            columns = size // self.rng.choice(rows)
            self.at = f"i * {columns} + j"
            return f"for i, j in T.Parallel({size // columns}, {columns}):"
        self.at = "i"
        kind = self.rng.choice(("Parallel", "Parallel", "Parallel", "serial"))
        return f"for i in T.{kind}(N):"

    def operand(self, buffer: Buffer, prologue: list[Stmt]) -> str:
        """The text of an element of an input in some form."""
        rng, name, dtype = self.rng, buffer.name, buffer.dtype
        form = rng.choice(("tensor", "tensor", "shared", "fragment", "view", "tile of another"))
        place = f"bx * N + {self.at}"
        if form == "tensor":
            return f"{name}[{place}]"
        if form == "view" and not self.is_dynamic and self.extents["L"] % 8 == 0:
            other = self.other_dtype(dtype)
            count = self.extents["L"] * SIZES[dtype] // SIZES[other]
            seen, back = self.fresh("v"), self.fresh("v")
            prologue += [
                Line(f'{seen} = T.view({name}, ({count},), "{other}")'),
                Line(f'{back} = T.view({seen}, (L,), "{dtype}")'),
            ]
            return f"{back}[{place}]"
        tile = self.fresh("t")
        space = "fragment" if form == "fragment" else "shared"
        prologue += [
            Line(f'{tile} = T.alloc_{space}((N,), "{dtype}")'),
            Line(f"T.copy({name}[bx * N : bx * N + N], {tile})"),
        ]
        if form == "tile of another" and self.extents["N"] % 8 == 0:
            other = self.other_dtype(dtype)
            seen = self.fresh("v")
            count = self.extents["N"] * SIZES[dtype] // SIZES[other]
            again = self.fresh("t")
            back = self.fresh("v")
            space = rng.choice(("shared", "fragment"))
            prologue += [
                Line(f'{seen} = T.view({tile}, ({count},), "{other}")'),
                Line(f'{again} = T.alloc_{space}(({count},), "{other}")'),
                Line(f"T.copy({seen}, {again})"),
                Line(f'{back} = T.view({again}, (N,), "{dtype}")'),
            ]
            return f"{back}[{self.at}]"
        if space == "shared" and rng.random() < 0.3:
            return f"{tile}[N - 1 - ({self.at})]"
        return f"{tile}[{self.at}]"

    def other_dtype(self, dtype: str) -> str:
        """A dtype to view an array of `dtype` as; bits of floats and bools are kept by integers."""
        return self.rng.choice([d for d in INTEGERS if d != dtype])

    def result(self, name: str, dtype: str, prologue: list[Stmt], epilogue: list[Stmt]) -> Stmt:
        rng = self.rng
        value = self.value(3)
        form = rng.choice(("tensor", "tensor", "shared", "fragment", "view"))
        sign = "="
        place = f"{name}[bx * N + {self.at}]"
        if form != "tensor":
            tile = self.fresh("r")
            root, count = dtype, self.extents["N"]
            if form == "view" and count % 8 == 0 and dtype != "bool":
                root = self.other_dtype(dtype)
                count = count * SIZES[dtype] // SIZES[root]
            prologue.append(
                Line(f'{tile} = T.alloc_{"fragment" if form == "fragment" else "shared"}'
                     f'(({count},), "{root}")')
            )  # fmt: skip
            if root != dtype:
                seen = self.fresh("w")
                prologue.append(Line(f'{seen} = T.view({tile}, (N,), "{dtype}")'))
                tile = seen
            place = f"{tile}[{self.at}]"
            epilogue.append(Line(f"T.copy({tile}, {name}[bx * N : bx * N + N])"))
        elif rng.random() < 0.2:
            sign = rng.choice(("+=", "-=", "*="))
        return Assign(place, value, sign)

    # ---- Statements ----

    def statement(self, depth: int) -> list[Stmt]:
        rng = self.rng
        draw = rng.random()
        if draw < 0.35 or not depth:
            value = self.value(2)
            name = self.fresh("x")
            made = [Assign(name, value)]
            if value.dtype not in ("number", "index"):
                self.names.append((name, value.dtype))
            return made
        if draw < 0.6 or not self.variables:
            dtype = rng.choice([d for d in DTYPES if d != "tfloat32"])
            name = self.fresh("u")
            made = [Around(f'{name} = T.alloc_var("{dtype}", init={{0}})', self.value(1))]
            self.variables.append((name, dtype))
            return made
        variable, dtype = rng.choice(self.variables)
        update = Assign(variable, self.value(2), rng.choice(("=", "=", "+=", "*=")))
        if rng.random() < 0.3:
            number = rng.choice(
                ("0", "1", "3", "100", *(("0.5", "-2.5") if is_float(dtype) else ()))
            )
            update = Assign(variable, leaf("True" if dtype == "bool" else number, "number"))
        if draw < 0.75:
            return [update]
        if draw < 0.9:
            body = self.inside(depth, [update])
            orelse: list[Stmt] = []
            if rng.random() < 0.5:
                orelse = self.inside(depth, [Assign(rng.choice(self.variables)[0], self.value(1))])
            return [Branch(self.condition(2), body, orelse)]
        trips = rng.choice((0, 1, 2, 3))
        name = self.fresh("k")
        body = self.inside(depth, [update])
        if rng.random() < 0.3:
            body.append(Branch(self.condition(1), [Line(rng.choice(("break", "continue")))], []))
            body += [Assign(rng.choice(self.variables)[0], self.value(1))]
        return [Nest(f"for {name} in T.serial({trips}):", body)]

    def inside(self, depth: int, body: list[Stmt]) -> list[Stmt]:
        """Statements of a nested body, whose names end with it."""
        kept = len(self.names), len(self.variables)
        made = [*(self.statement(depth - 1) if self.rng.random() < 0.4 else []), *body]
        del self.names[kept[0] :], self.variables[kept[1] :]
        return made

    def condition(self, depth: int) -> Value:
        """A bool."""
        value = self.comparison(depth)
        draw = self.rng.random()
        if draw < 0.1:
            return Value("not", "bool", (value,), "(not {0})")
        if draw < 0.25:
            word = self.rng.choice(("and", "or"))
            return Value(word, "bool", (value, self.comparison(depth)), f"({{0}} {word} {{1}})")
        return value

    # ---- Values ----

    def value(self, depth: int) -> Value:
        """A value of any dtype; never only a number of the program."""
        made = self.tree(depth)
        while made.dtype in ("number", "index"):
            made = self.tree(depth)
        return made

    def of(self, kinds: tuple[str, ...], depth: int) -> Value:
        """A value of one of these dtypes, converted if need be."""
        made = self.value(depth)
        if made.dtype in kinds:
            return made
        dtype = self.rng.choice(kinds)
        return Value("cast", dtype, (made,), f'T.cast({{0}}, "{dtype}")')

    def tree(self, depth: int) -> Value:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.1:
            return self.leaf()
        draw = rng.choices(
            (self.arithmetic, self.bits, self.extreme, self.comparison, self.chosen, self.cast,
             self.unary, self.division, self.called, self.rounded),
            (6, 3, 2, 2, 2, 3, 4, 5, 1, 1),
        )[0]  # fmt: skip
        return draw(depth)

    def leaf(self) -> Value:
        rng = self.rng
        draw = rng.random()
        if draw < 0.65:
            return leaf(*rng.choice(self.inputs))
        if draw < 0.78 and (self.names or self.variables):
            return leaf(*rng.choice(self.names + self.variables))
        if draw < 0.85:
            return leaf(self.index(), "index")
        if draw < 0.9:
            dtype = rng.choice([d for d in DTYPES if d != "tfloat32"])
            number = rng.choice(("0", "1", "2", "3", "7", "100"))
            if dtype[0] != "u" and dtype != "bool":
                number = rng.choice((number, "-1", "-3"))
            return leaf(f"T.{dtype}({'True' if dtype == 'bool' else number})", dtype)
        return leaf(rng.choice(("0", "1", "2", "3", "5", "-1", "-7", "100", "1000", "0.5", "2.5",
                                "-1.5", "0.1", "3.0")), "number")  # fmt: skip

    def index(self) -> str:
        """The number of the iteration, or what a division by a positive or negative number makes
        of it."""
        rng = self.rng
        if rng.random() < 0.6:
            return f"({self.at})"
        sign, divisor = rng.choice(("//", "%")), rng.choice(DIVISORS)
        shifted = f"({self.at}) - {rng.choice((0, 5, 20))}"
        if rng.random() < 0.3:
            name = rng.choice(("truncdiv", "truncmod", "ceildiv"))
            return f"T.{name}({shifted}, {divisor})"
        return f"(({shifted}) {sign} {divisor})"

    def pair(self, depth: int) -> tuple[Value, Value, str]:
        """Two operands, at least one of them typed, and the dtype in which they meet."""
        rng = self.rng
        a, b = self.value(depth - 1), self.tree(depth - 1)
        if rng.random() < 0.3:  # any dtype beside what has none
            a = self.of((rng.choice([d for d in DTYPES if d != "tfloat32"]),), 0)
            numbers = ("1", "2", "3", "5", "100") + (("0.5", "2.5") if is_float(a.dtype) else ())
            b = leaf(rng.choice(numbers), "number")
            if rng.random() < 0.4:
                b = leaf(self.index(), "index")
        met = meet_of(a.dtype, self.literal(b))
        if rng.random() < 0.4:
            a, b = b, a
        return a, b, met

    def literal(self, value: Value) -> str:
        if value.dtype == "number":
            return "float32" if "." in value.text() else "int32"
        return "int32" if value.dtype == "index" else value.dtype

    def arithmetic(self, depth: int) -> Value:
        a, b, met = self.pair(depth)
        sign = self.rng.choice("+-*")
        dtype = "int32" if met == "bool" else met
        return Value("arithmetic", dtype, (a, b), f"({{0}} {sign} {{1}})")

    def division(self, depth: int) -> Value:
        rng = self.rng
        a, b, met = self.pair(depth)
        draw = rng.random()
        if draw < 0.7:  # an integer by a number of the program, an index value or its like
            a = self.of((rng.choice(INTEGERS),), rng.randrange(depth))
            b = self.of((a.dtype,), 0)
            if draw < 0.5:
                b = (
                    leaf(rng.choice(DIVISORS), "number")
                    if draw < 0.3
                    else leaf(self.index(), "index")
                )
            met = meet_of(a.dtype, self.literal(b))
        dtype = "int32" if met == "bool" else met
        text = rng.choice(("({0} // {1})", "({0} % {1})", "T.truncdiv({0}, {1})",
                           "T.truncmod({0}, {1})", "({0} / {1})", "T.ceildiv({0}, {1})",
                           "T.floordiv({0}, {1})", "T.floormod({0}, {1})"))  # fmt: skip
        if "ceildiv" in text and is_float(met):
            text = "({0} // {1})"
        if text == "({0} / {1})" and not is_float(dtype):
            kinds = (self.literal(a), self.literal(b))
            if not any(kind == "bool" or kind[0] == "u" for kind in kinds):
                dtype = "float32"
        return Value("division", dtype, (a, b), text)

    def bits(self, depth: int) -> Value:
        rng = self.rng
        whole = ("bool", *INTEGERS)
        a = self.of(whole, depth - 1)
        draw = rng.random()
        if draw < 0.15:
            return Value("not", a.dtype, (a,), rng.choice(("(~{0})", "T.bitwise_not({0})")))
        sign = rng.choice(("&", "|", "^", "<<", ">>"))
        if draw < 0.4:
            number = rng.choice(("0", "1", "3", "7", "31", "40", "64") if sign in ("<<", ">>")
                                else ("0", "1", "3", "85", "127"))  # fmt: skip
            b = leaf(number, "number")
            return Value("bits", "int32" if a.dtype == "bool" else a.dtype, (a, b),
                         f"({{0}} {sign} {{1}})")  # fmt: skip
        b = self.of(whole, depth - 1)
        met = meet_of(a.dtype, b.dtype)
        if met == "bool" and sign in ("<<", ">>"):
            met = "int32"
        return Value("bits", met, (a, b), f"({{0}} {sign} {{1}})")

    def extreme(self, depth: int) -> Value:
        a, b, met = self.pair(depth)
        if self.rng.random() < 0.25:
            c = self.value(depth - 1)
            return Value("clamp", meet_of(met, c.dtype), (a, b, c), "T.clamp({0}, {1}, {2})")
        return Value("extreme", met, (a, b), f"T.{self.rng.choice(('max', 'min'))}({{0}}, {{1}})")

    def comparison(self, depth: int) -> Value:
        a, b, _ = self.pair(max(depth, 1))
        sign = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        return Value("comparison", "bool", (a, b), f"({{0}} {sign} {{1}})")

    def chosen(self, depth: int) -> Value:
        a, b, met = self.pair(depth)
        condition = self.condition(depth - 1) if self.rng.random() < 0.8 else self.value(depth - 1)
        text = "T.if_then_else({0}, {1}, {2})"
        if self.rng.random() < 0.2:
            text = "({1} if {0} else {2})"
        return Value("chosen", met, (condition, a, b), text)

    def cast(self, depth: int) -> Value:
        rng = self.rng
        inner = self.tree(depth - 1)
        dtype = rng.choice(DTYPES)
        if inner.dtype == "number" or rng.random() < 0.6 or not is_float(dtype):
            text = rng.choice((f'T.cast({{0}}, "{dtype}")', f"T.{dtype}({{0}})"))
            if inner.dtype == "number" or dtype == "tfloat32":
                text = f'T.cast({{0}}, "{dtype}")'
            if inner.dtype == "number" and (dtype[0] == "u" or dtype in ("int8", "bool")):
                inner = leaf("3", "number")
            return Value("cast", dtype, (inner,), text)
        options = [f', round="{rng.choice(("rn", "rz", "rm", "rp"))}"', ", sat=True"]
        option = rng.choice(options)
        if dtype in ("tfloat32", "float64", *FLOAT8) or inner.dtype in ("index", "number"):
            option = ""
        return Value("cast", dtype, (inner,), f'T.cast({{0}}, "{dtype}"{option})')

    def unary(self, depth: int) -> Value:
        rng = self.rng
        inner = self.value(depth - 1)
        if rng.random() < 0.4:
            inner = self.of((rng.choice((*INTEGERS, *FLOATS)),), depth - 1)
        if inner.dtype == "bool":
            return Value("neg", "int32", (inner,), "(-{0})")
        texts = ["(-{0})", "T.abs({0})", "T.floor({0})", "T.ceil({0})", "T.round({0})",
                 "T.trunc({0})"]  # fmt: skip
        if not is_float(inner.dtype):
            texts += ["T.popcount({0})", "(-{0})"]
        elif rng.random() < 0.2:
            question = rng.choice(("isnan", "isinf", "isfinite"))
            return Value("question", "bool", (inner,), f"T.{question}({{0}})")
        dtype = "float32" if inner.dtype == "tfloat32" else inner.dtype
        return Value("unary", dtype, (inner,), rng.choice(texts))

    def called(self, depth: int) -> Value:
        """A macro of two values."""
        a, b = self.value(depth - 1), self.value(depth - 1)
        self.program.helpers = MACROS
        met = meet_of(a.dtype, "int32")
        if self.rng.random() < 0.5:
            return Value("macro", meet_of(met, b.dtype), (a, b), "weighed({0}, {1})")
        dtype = a.dtype if a.dtype != "tfloat32" else "float32"
        same = Value("cast", dtype, (b,), f'T.cast({{0}}, "{dtype}")')
        return Value("macro", dtype, (a, same), "either({0}, {1})")

    def rounded(self, depth: int) -> Value:
        """Operations that say how they round, on one dtype."""
        rng = self.rng
        dtype = rng.choice(("float32", "float64", "float16"))
        a, b, c = (Value("cast", dtype, (self.value(depth - 1),), f'T.cast({{0}}, "{dtype}")')
                   for _ in range(3))  # fmt: skip
        if rng.random() < 0.3:
            if dtype != "float64":
                return Value("fma", dtype, (a, b, c), "T.fma({0}, {1}, {2})")
        if rng.random() < 0.3:
            return Value("sqrt", dtype, (a,), "T.sqrt({0})")
        mode = rng.choice(("rn", "rz", "ru", "rd")) if dtype == "float32" else "rn"
        name = rng.choice(("add", "sub", "mul", "fdiv"))
        return Value("ieee", dtype, (a, b), f'T.ieee_{name}({{0}}, {{1}}, "{mode}")')


@dataclass
class Around(Stmt):
    """A statement around one value."""

    template: str
    value: Expr

    def lines(self) -> list[str]:
        return [self.template.format(self.value.text())]


@dataclass
class Branch(Stmt):
    """`if` on a value."""

    value: Expr
    body: list[Stmt]
    orelse: list[Stmt]

    def blocks(self) -> list[list[Stmt]]:
        return [self.body, self.orelse]

    def lines(self) -> list[str]:
        other = ["else:", *render_block(self.orelse)] if self.orelse else []
        return [f"if {self.value.text()}:", *render_block(self.body), *other]


# ---- Text ----

ARGUMENTS = '''
def drawn(dtype, count, seed):
    """Edges of the dtype and random ones, in random order."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    held = np.dtype("float32" if dtype == "tfloat32" else dtype)
    bits = rng.integers(0, 2**64, count, dtype=np.uint64, endpoint=False)
    any_bits = bits.astype(f"u{held.itemsize}").view(held)
    if held.kind in "iu":
        info = np.iinfo(held)
        some = [info.min, info.max, 0, 1, 2, 3, 7, info.max // 2, info.min + 1, info.max - 1, -1]
        some = np.array([v for v in some if info.min <= v <= info.max], held)
    else:
        some = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 7.0, np.inf, -np.inf,
                         np.nan, 448, 57344, 65504, 1e-3, 1e30, -1e30, 1e-40, 2.0**31, 2.0**63,
                         255, 256, 127.5, -128.5])
        with np.errstate(all="ignore"):
            some = some.astype(held)
    if dtype == "tfloat32":  # more digits may be kept or not where they are moved
        any_bits = (any_bits.view("u4") & 0xFFFFE000).view(held)
        some = (some.view("u4") & 0xFFFFE000).view(held)
    which = rng.random(count)
    small = rng.integers(0, 20, count).astype(held)
    return np.where(which < 0.4, some[rng.integers(0, len(some), count)],
                    np.where(which < 0.7, small, any_bits))
'''


def emit(program: Program, file: str = "FILE.py") -> str:
    """The text of its file."""
    head = tile_programs.HEADER.format(seed=program.seed, mode="exact", file=file)
    head = head.replace("differential --seed", "differential --kind values --seed", 1)
    lines = [head, f"N = {program.extents['N']}\n"]
    if program.dynamic:
        lines.append('L = T.dynamic("L")\n')
    else:
        lines.append(f"L = {program.extents['L']}\n")
    lines.append(f"\n\n{program.helpers}@T.prim_func\ndef main(\n")
    for tensor in program.tensors:
        lines.append(f'    {tensor.name}: T.Tensor((L,), "{tensor.dtype}"),\n')
    lines.append("):\n" + "\n".join(render_block(program.body)) + "\n\n")
    written = tuple(t.name for t in program.tensors if t.role != "in")
    lines.append(f"{ARGUMENTS}\n\nWRITTEN = {written!r}\n#: Zeros have signs.\nSTRICT = True\n")
    lines.append("\n\ndef arguments():\n    return [\n")
    for number, tensor in enumerate(program.tensors):
        drawn = f'drawn("{tensor.dtype}", {program.extents["L"]}, {program.seed * 10 + number})'
        lines.append(f"        {drawn},  # {tensor.name}\n")
    lines.append("    ]\n")
    return "".join(lines) + tile_programs.FOOTER
