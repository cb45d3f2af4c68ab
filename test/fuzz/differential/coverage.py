"""What random programs exercised: cells of the language, read from the text of each program.

A cell is (construct, dtype, form). The construct is what the user writes (`T.copy`, `//`, `while`).
The dtype is an operand's. The form says what else the operand is: for operands of statements where
they lie and how they are seen ("shared view", "global strided"), for operands of operators what
stands on the other side ("literal", "negative", "index", "mixed", "same"). A campaign counts the
cells of each program for every engine that ran it and agreed. `REQUIRED` lists the cells that no
long run may leave empty, `table` shows what was drawn.

    python test/fuzz/differential --coverage 300     what 300 programs of each kind draw
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from differential.promotion import meet

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
NUMBERS = (*INTEGERS, *FLOATS)
DTYPES = ("bool", *INTEGERS, *FLOAT8, *FLOATS, "tfloat32")

Cell = tuple[str, str, str]

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Pow: "**", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
    ast.NotEq: "!=",
}  # fmt: skip
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
#: Calls whose first operands are values; the dtype of the result is that of the operands.
FUNCTIONS = {
    "max", "min", "clamp", "truncdiv", "truncmod", "floordiv", "floormod", "ceildiv", "abs",
    "floor", "ceil", "round", "trunc", "popcount", "fma", "sqrt", "shift_left", "shift_right",
    "bitwise_not", "pow", "fmod",
}  # fmt: skip
QUESTIONS = {"isnan", "isinf", "isfinite"}


@dataclass(frozen=True)
class Place:
    """A buffer or a part of it."""

    dtype: str
    memory: str
    form: str = "plain"

    @property
    def words(self) -> str:
        return f"{self.memory} {self.form}"


@dataclass(frozen=True)
class Scalar:
    """A value: its dtype, or "literal", "negative" or "index" if it has none."""

    dtype: str

    @property
    def is_typed(self) -> bool:
        return self.dtype in DTYPES


UNKNOWN = Scalar("")


def cells_of(text: str) -> set[Cell]:
    """The cells of a program."""
    reader = _Reader(ast.parse(text))
    reader.read()
    return reader.cells


#: Instructions that a construct may become, and what the cell of a program says that has one.
INSTRUCTIONS = {
    r"wgmma\.mma_async\S*?\.(f16|f32|s32)\.(f16|bf16|tf32|s8|u8|e4m3|e5m2)\b": "wgmma",
    r"mma\.sync\S*?\.(f16|f32|s32|f64)\.(f16|bf16|tf32|s8|u8|f64|e4m3|e5m2)\b": "mma.sync",
    r"(cp\.async)\.(?:ca|cg)": "cp.async",
    r"(cp\.async\.bulk)\.tensor": "bulk",
    r"(cp\.async\.bulk)\.(?:shared|global)": "bulk rows",
    r"(cp\.reduce\.async\.bulk)": "bulk reduction",
    r"\.(multicast)::cluster": "copies",
    r"\.(reqnctapercluster)": "clusters",
    r"(barrier\.cluster)\.wait": "clusters",
    r"(griddepcontrol)\.wait": "launches",
    r"(setmaxnreg)\.": "roles",
}


#: Code that copies in bulk and has asynchronous products.
BULK_AND_PRODUCTS = ("wgmma", "beside bulk", "instruction")
MULTICAST = ("copies", "multicast", "instruction")
#: What a campaign tells of the code of its programs.
TOLD = {BULK_AND_PRODUCTS: "bulk copies and wgmma", MULTICAST: "multicast"}


def instructions_of(ptx: str) -> set[Cell]:
    """The cells of generated code."""
    cells = {
        (name, " ".join(found.groups()), "instruction")
        for pattern, name in INSTRUCTIONS.items()
        for found in re.finditer(pattern, ptx)
    }
    if {"wgmma", "bulk"} <= {name for name, _, _ in cells}:
        cells.add(BULK_AND_PRODUCTS)
    return cells


class _Reader:
    """Walks a program and gives names and expressions their dtypes, as docs/semantics.md says."""

    def __init__(self, module: ast.Module) -> None:
        self.functions = {f.name: f for f in module.body if isinstance(f, ast.FunctionDef)}
        self.dynamic = {
            node.targets[0].id for node in module.body
            if isinstance(node, ast.Assign) and "T.dynamic" in ast.unparse(node.value)
        }  # fmt: skip
        self.names: dict[str, Place | Scalar] = {}
        self.cells: set[Cell] = set()

    def note(self, construct: str, dtype: str = "", form: str = "") -> None:
        self.cells.add((construct, dtype, form))

    def read(self) -> None:
        main = self.functions["main"]
        if self.dynamic:
            self.note("T.dynamic")
        for argument in main.args.args:
            tensor = argument.annotation
            if ast.unparse(tensor.func) == "T.StridedTensor":
                self.note("T.StridedTensor")
            self.names[argument.arg] = Place(tensor.args[-1].value, "global")
        kernels = [node for node in main.body if isinstance(node, ast.With)]
        if len(kernels) > 1:
            self.note("several kernels")
        self.block(main.body)

    # ---- Statements ----

    def block(self, body: list[ast.stmt]) -> None:
        for stmt in body:
            self.statement(stmt)

    def statement(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.With(items=[item]):
                self.opened(item)
                self.block(stmt.body)
            case ast.For():
                self.loop(stmt)
            case ast.While():
                self.note("while")
                self.value(stmt.test)
                self.block(stmt.body)
            case ast.If():
                self.note("if", "", "else" if stmt.orelse else "")
                self.value(stmt.test)
                self.block(stmt.body)
                self.block(stmt.orelse)
            case ast.Assign(targets=[target]):
                self.assign(target, stmt.value)
            case ast.AugAssign():
                self.note(f"{OPERATORS[type(stmt.op)]}=")
                self.assign(stmt.target, ast.BinOp(stmt.target, stmt.op, stmt.value))
            case ast.Expr(value=ast.Call()):
                self.value(stmt.value)
            case ast.Break() | ast.Continue():
                self.note(type(stmt).__name__.lower())
            case ast.Return(value=value) if value is not None:
                self.value(value)

    def opened(self, item: ast.withitem) -> None:
        call = item.context_expr
        if isinstance(call, ast.Call):
            self.note(ast.unparse(call.func))
        targets = item.optional_vars
        for name in ast.walk(targets) if targets is not None else ():
            if isinstance(name, ast.Name):
                self.names[name.id] = Scalar("index")

    def loop(self, stmt: ast.For) -> None:
        kind = ast.unparse(stmt.iter.func)
        arguments = stmt.iter.args
        form = "constant"
        if any(self.value(argument).dtype in DTYPES for argument in arguments):
            form = "run-time"
        elif len(arguments) == 3 and kind not in ("T.Parallel", "T.Persistent"):
            form = "step"
        self.note(kind, "", form)
        for option in stmt.iter.keywords:
            self.note(kind, "", f"{option.arg}={ast.unparse(option.value)}")
        for name in ast.walk(stmt.target):
            if isinstance(name, ast.Name):
                self.names[name.id] = Scalar("index")
        self.block(stmt.body)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        made = self.value(value)
        if isinstance(target, ast.Name):
            known = self.names.get(target.id)
            is_variable = isinstance(known, Scalar) and known.is_typed
            if is_variable and isinstance(made, Scalar) and "alloc_var" not in ast.unparse(value):
                self.note("assign", known.dtype, self.side(made, known))
            else:
                self.names[target.id] = made
        elif isinstance(target, ast.Subscript):
            place = self.place(target)
            self.value(target.slice)
            if isinstance(place, Place):
                self.note("store", place.dtype, place.words)

    # ---- Places ----

    def place(self, node: ast.expr) -> Place | None:
        """The buffer, part or element that an expression names."""
        match node:
            case ast.Name():
                known = self.names.get(node.id)
                return known if isinstance(known, Place) else None
            case ast.Subscript():
                place = self.place(node.value)
                parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                slices = [part for part in parts if isinstance(part, ast.Slice)]
                if place is None or not slices:
                    return place
                form = "strided" if any(part.step is not None for part in slices) else "slice"
                return replace(place, form=form)
            case ast.Call() if ast.unparse(node.func) in ("T.view", "T.reshape"):
                return self.viewed(node)
        return None

    def viewed(self, node: ast.Call) -> Place | None:
        source = self.place(node.args[0])
        if source is None:
            return None
        dtype = node.args[2].value if len(node.args) > 2 else source.dtype
        form = "reshaped" if dtype == source.dtype and source.form != "view" else "view"
        self.note(ast.unparse(node.func), dtype, source.memory)
        return Place(dtype, source.memory, form)

    # ---- Values ----

    def side(self, other: Place | Scalar, mine: Scalar) -> str:
        """What stands on the other side of an operand."""
        if not other.dtype or other.dtype in ("literal", "negative", "index"):
            return other.dtype
        return "same" if other.dtype == mine.dtype else "mixed"

    def value(self, node: ast.expr) -> Place | Scalar:
        match node:
            case ast.Constant():
                return Scalar("literal") if isinstance(node.value, int | float) else UNKNOWN
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return Scalar("negative")
            case ast.UnaryOp():
                inner = self.value(node.operand)
                if inner.dtype in DTYPES:
                    self.note(f"unary {type(node.op).__name__}", inner.dtype)
                return Scalar("bool") if isinstance(node.op, ast.Not) else inner
            case ast.Name():
                if node.id in self.dynamic:
                    return Scalar("index")
                return self.names.get(node.id, Scalar("literal"))
            case ast.BinOp():
                sign = OPERATORS[type(node.op)]
                return self.operator(sign, self.value(node.left), self.value(node.right))
            case ast.Compare():
                left = self.value(node.left)
                for op, right in zip(node.ops, node.comparators, strict=True):
                    self.operator(OPERATORS[type(op)], left, self.value(right))
                return Scalar("bool")
            case ast.BoolOp():
                self.note(type(node.op).__name__.lower())
                for value in node.values:
                    self.value(value)
                return Scalar("bool")
            case ast.IfExp():
                self.value(node.test)
                return self.operator("if else", self.value(node.body), self.value(node.orelse))
            case ast.Subscript():
                return self.loaded(node)
            case ast.Tuple() | ast.List():
                for part in node.elts:
                    self.value(part)
                return UNKNOWN
            case ast.Slice():
                for part in (node.lower, node.upper, node.step):
                    if part is not None:
                        self.value(part)
                return UNKNOWN
            case ast.Call():
                return self.call(node)
        return UNKNOWN

    def loaded(self, node: ast.Subscript) -> Place | Scalar:
        place = self.place(node)
        self.value(node.slice)
        if place is None:
            return UNKNOWN
        if place.form in ("slice", "strided") and place is not self.place(node.value):
            return place
        self.note("load", place.dtype, place.words)
        return Scalar(place.dtype)

    def operator(self, sign: str, a: Place | Scalar, b: Place | Scalar) -> Scalar:
        for mine, other in ((a, b), (b, a)):
            if mine.dtype in DTYPES:
                self.note(sign, mine.dtype, self.side(other, mine))
        if sign in ("//", "%", "truncdiv", "truncmod") and b.dtype == "negative":
            self.note(sign, "index" if a.dtype == "index" else a.dtype, "negative divisor")
        if a.dtype == b.dtype == "index" or {a.dtype, b.dtype} <= {"index", "literal", "negative"}:
            self.note(sign, "index", self.side(b, a) if a.dtype == "index" else a.dtype)
            return Scalar("index" if "index" in (a.dtype, b.dtype) else "literal")
        return Scalar("bool") if sign in COMPARISONS else Scalar(_met(a.dtype, b.dtype))

    # ---- Calls ----

    def call(self, node: ast.Call) -> Place | Scalar:
        if isinstance(node.func, ast.Name):
            return self.macro(node)
        if ast.unparse(node.func.value) != "T":
            return UNKNOWN
        name = node.func.attr
        if name in ("view", "reshape"):
            return self.viewed(node) or UNKNOWN
        if name.startswith("alloc_"):
            return self.allocated(name, node)
        if name == "annotate_layout":
            return self.laid_out(node)
        for option in node.keywords:
            if not isinstance(option.value, ast.Constant):
                self.value(option.value)
            self.note(f"T.{name}", "", f"{option.arg}={ast.unparse(option.value)[:12]}")
        if name in ("cast", "Cast", "reinterpret"):
            source = self.value(node.args[0])
            target = node.args[1].value
            self.note(f"T.{name}", source.dtype, f"to {target}")
            return Scalar(target)
        if name in DTYPES:
            self.note(f"T.{name}", self.value(node.args[0]).dtype)
            return Scalar(name)
        return self.called(name, node)

    def called(self, name: str, node: ast.Call) -> Scalar:
        """A statement on tiles, or a function of values."""
        places = [self.place(argument) for argument in node.args]
        is_statement = name not in FUNCTIONS | QUESTIONS | {"if_then_else", "Select"}
        values = []
        for position, (argument, place) in enumerate(zip(node.args, places, strict=True)):
            if place is not None and is_statement:
                role = f" {'ABC'[position]}" if name == "gemm" and position < 3 else ""
                self.note(f"T.{name}{role}", place.dtype, place.words)
                if isinstance(argument, ast.Subscript):
                    self.value(argument.slice)
                values.append(Scalar(place.dtype))
            else:
                values.append(self.value(argument))
        if name in ("if_then_else", "Select"):
            return self.operator(f"T.{name}", *values[1:3])
        if name in QUESTIONS:
            self.note(f"T.{name}", values[0].dtype)
            return Scalar("bool")
        if not is_statement and len(values) > 1:
            return self.operator(f"T.{name}" if name not in ("truncdiv", "truncmod") else name,
                                 *values[:2])  # fmt: skip
        if values and isinstance(values[0], Scalar) and not any(places):
            self.note(f"T.{name}", values[0].dtype)
        elif not values:
            self.note(f"T.{name}")
        return Scalar(values[0].dtype) if values and not is_statement else Scalar(
            values[0].dtype if values and values[0].dtype in DTYPES else "int32")  # fmt: skip

    def allocated(self, name: str, node: ast.Call) -> Place | Scalar:
        memory = name.removeprefix("alloc_")
        if memory == "barrier":
            self.note("T.alloc_barrier")
            return UNKNOWN
        dtype = node.args[0 if memory == "var" else 1].value
        self.note(f"T.{name}", dtype)
        for option in node.keywords:
            self.value(option.value)
        return Scalar(dtype) if memory == "var" else Place(dtype, memory)

    def laid_out(self, node: ast.Call) -> Scalar:
        for key, layout in zip(node.args[0].keys, node.args[0].values, strict=True):
            place = self.place(key)
            text = ast.unparse(layout)
            padded = "lambda i, j: [i, j + 3]" in text or re.search(r"\[i \* \d+ \+ j\]", text)
            form = "swizzled" if "swizzled" in text else "padded" if padded else "layout"
            if place is not None and isinstance(key, ast.Name):
                self.names[key.id] = replace(place, form=form)
                self.note("T.annotate_layout", place.dtype, f"{place.memory} {form}")
        return UNKNOWN

    def macro(self, node: ast.Call) -> Place | Scalar:
        function = self.functions.get(node.func.id)
        self.note("T.macro")
        values = [self.place(argument) or self.value(argument) for argument in node.args]
        if function is None:
            return UNKNOWN
        outer, self.names = self.names, {
            **self.names, **dict(zip((a.arg for a in function.args.args), values, strict=False))
        }  # fmt: skip
        self.block(function.body[:-1])
        last = function.body[-1]
        result = self.value(last.value) if isinstance(last, ast.Return) else UNKNOWN
        if not isinstance(last, ast.Return):
            self.statement(last)
        self.names = outer
        return result


def _met(a: str, b: str) -> str:
    """The dtype in which two operands meet."""
    a, b = ({"literal": "int32", "negative": "int32", "index": "int32", "tfloat32": "float32"}
            .get(d, d) for d in (a, b))  # fmt: skip
    if not a or not b:
        return a or b
    if a != b and "float8" in a and "float8" in b:
        return "float32"
    return meet(a, b)


# ---- The cells of the language ----

_FORMS = ("plain", "view", "reshaped", "slice", "strided", "layout")
_MEMORIES = ("global", "shared", "fragment")


def _required() -> set[Cell]:
    cells: set[Cell] = set()

    def owe(constructs: Iterable[str], dtypes: Iterable[str], forms: Iterable[str]) -> None:
        cells.update((c, d, f) for c in constructs for d in dtypes for f in forms)

    # Operators on values of every dtype, beside every kind of other operand.
    sides = ("same", "mixed", "literal", "index")
    owe(("+", "-", "*", "<", "==", "T.max", "T.if_then_else"),
        (d for d in DTYPES if d != "tfloat32"), sides)  # fmt: skip
    owe(("<=", ">", ">=", "!=", "T.min"), (d for d in DTYPES if d != "tfloat32"), ("mixed",))
    owe(("//", "%", "truncdiv", "truncmod"), INTEGERS, sides)
    owe(("//", "%", "truncdiv", "truncmod"), ("int8", "int16", "int32", "int64", "index"),
        ("negative divisor",))  # fmt: skip
    owe(("/", "T.ceildiv"), INTEGERS, ("mixed", "literal"))
    owe(("&", "|", "^", "<<", ">>"), ("bool", *INTEGERS), ("mixed", "literal"))
    owe(("T.abs", "T.floor", "T.ceil", "T.round", "T.trunc"), NUMBERS, ("",))
    owe(("T.popcount",), INTEGERS, ("",))
    owe(("unary USub",), (d for d in DTYPES if d != "tfloat32"), ("",))
    owe(("T.cast",), DTYPES, (f"to {d}" for d in DTYPES))
    owe(("assign",), (d for d in DTYPES if d != "tfloat32"), ("same", "mixed", "literal"))
    # Elements in every form of memory.
    owe(("load", "store"), DTYPES, ("global plain", "shared plain", "fragment plain"))
    # Statements on every dtype, and on every form in every memory.
    moves = ("T.copy", "T.fill", "T.clear", "T.transpose", "T.cumsum", "T.reduce_sum",
             "T.reduce_max", "T.reduce_absmax", "T.reduce_min", "T.reduce_abssum")  # fmt: skip
    places = [f"{m} {f}" for m in _MEMORIES for f in _FORMS if (m, f) != ("fragment", "layout")]
    owe(moves, DTYPES, ("anywhere",))
    cells.update((f"{c} on", "any", place) for c in moves for place in places)
    owe(("T.reduce_bitand", "T.reduce_bitor", "T.reduce_bitxor"), ("bool", *INTEGERS),
        ("anywhere",))  # fmt: skip
    atomics = ("T.atomic_add", "T.atomic_max", "T.atomic_min")
    owe(atomics, (*NUMBERS, *FLOAT8), ("anywhere",))
    cells.update((f"{c} on", "any", p) for c in atomics for p in places if "fragment" not in p)
    for role in "ABC":
        owe((f"T.gemm {role}",), NUMBERS, ("anywhere",))
        cells.update((f"T.gemm {role} on", "any", place) for place in places)
    owe(("T.gemm A", "T.gemm B"), (*FLOAT8, "tfloat32"), ("anywhere",))
    owe(("T.alloc_reducer",), DTYPES, ("",))
    owe(("T.alloc_var",), (d for d in DTYPES if d != "tfloat32"), ("",))
    owe(("T.view",), DTYPES, _MEMORIES)
    owe(("T.cummax", "T.atomic_load", "T.atomic_store"), NUMBERS, ("anywhere",))
    owe(("T.atomic_and", "T.atomic_or", "T.atomic_xor"), INTEGERS, ("anywhere",))
    # Blocks that talk.
    for order in ("release", "acq_rel", "seq_cst"):
        owe(("T.atomic_add", "T.atomic_max"), ("",), (f"memory_order='{order}'",))
    owe(("T.atomic_load",), ("",), ("memory_order='acquire'", "memory_order='seq_cst'"))
    owe(("T.atomic_store",), ("",), ("memory_order='release'", "memory_order='seq_cst'"))
    owe(("T.any_of", "T.all_of"), ("bool", *INTEGERS), ("anywhere",))
    owe(("T.atomic_addx2", "T.atomic_addx4"), ("float32",), ("anywhere",))
    owe(("T.im2col",), ("float16", "float32"), ("anywhere",))
    # Control, threads and the rest.
    for name in ("T.serial", "T.unroll", "T.Pipelined", "T.Parallel"):
        cells.add((name, "", "constant"))
    cells |= {(name, "", "") for name in (
        "while", "break", "continue", "T.macro", "T.dynamic", "several kernels", "T.ws",
        "T.alloc_barrier", "T.barrier_arrive", "T.barrier_wait", "T.sync_threads", "T.sync_warp",
        "T.get_thread_binding", "and", "or", "if", "T.ClusterKernel", "T.cluster_sync",
        "T.StridedTensor",
    )}  # fmt: skip
    cells |= {("T.serial", "", "run-time"), ("T.serial", "", "step"), ("if", "", "else"),
              ("T.Pipelined", "", "num_stages=3"), ("T.Persistent", "", "constant")}  # fmt: skip
    for name in ("T.shfl_xor", "T.shfl_up", "T.shfl_down", "T.shfl_sync", "T.warp_reduce_sum",
                 "T.warp_reduce_max", "T.warp_reduce_min"):  # fmt: skip
        cells.add((name, "int32", ""))
    cells |= {(f"T.{name}", "bool", "") for name in
              ("any_sync", "all_sync", "ballot", "syncthreads_count", "syncthreads_and",
               "syncthreads_or")}  # fmt: skip
    return cells


REQUIRED = _required()
#: What some engine must have made of the programs.
REQUIRED_CODE = {
    ("sm_90a", ("wgmma", "f32 f16", "instruction")),
    ("sm_90a", ("wgmma", "f32 bf16", "instruction")),
    ("sm_90a", ("wgmma", "s32 s8", "instruction")),
    *(("sm_90a", ("wgmma", f"f32 {kind}", "instruction")) for kind in ("e4m3", "e5m2")),
    ("sm_90a-late", ("wgmma", "f32 f16", "instruction")),
    ("sm_90a", ("bulk", "cp.async.bulk", "instruction")),
    ("sm_90a", BULK_AND_PRODUCTS),
    ("sm_90a-late", BULK_AND_PRODUCTS),
    ("sm_90a", MULTICAST),
    ("sm_90a-late", MULTICAST),
    ("sm_80", ("mma.sync", "f32 f16", "instruction")),
    ("sm_80", ("mma.sync", "s32 s8", "instruction")),
    ("sm_80", ("cp.async", "cp.async", "instruction")),
}
#: Engines that must each have run every cell. Others of the same family (`cpu-1`) add to the table.
OWING = ("interp", "cpu", "sm_80", "sm_90", "sm_90a")


def widened(cells: Iterable[Cell]) -> set[Cell]:
    """The cells, and for operands of statements those of all dtypes and of all places together."""
    made = {tuple(cell) for cell in cells}
    placed = {cell for cell in made if " " in cell[2] and cell[0].startswith("T.")}
    made |= {(f"{construct} on", "any", form) for construct, _, form in placed}
    return made | {(construct, dtype, "anywhere") for construct, dtype, _ in placed}


class Coverage:
    """How many programs exercised each cell, by engine."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[Cell]] = defaultdict(Counter)

    def add(self, engine: str, cells: Iterable[Cell]) -> None:
        """Counts the cells of one program."""
        for name in {engine, engine.partition("-")[0]}:  # a variant counts for its family
            self.counts[name].update(widened(cells))

    def merge(self, other: Coverage) -> None:
        for engine, counts in other.counts.items():
            self.counts[engine].update(counts)

    def empty(self) -> list[str]:
        """The required cells that no program of the engine exercised, in words."""
        missing = [
            f"{' '.join(filter(None, cell))} on {engine}"
            for engine in OWING for cell in sorted(REQUIRED) if not self.counts[engine][cell]
        ]  # fmt: skip
        missing += [
            f"{' '.join(cell)} on {engine}"
            for engine, cell in sorted(REQUIRED_CODE) if not self.counts[engine][cell]
        ]  # fmt: skip
        return missing

    def table(self) -> str:
        """Markdown: constructs by dtypes, the fewest programs of an owing engine in each cell."""
        engines = [e for e in OWING if e in self.counts]
        total: Counter[tuple[str, str]] = Counter()
        for engine in engines:
            for (construct, dtype, _), count in self.counts[engine].items():
                total[construct, dtype] += count
        owed = {(construct, dtype) for construct, dtype, _ in REQUIRED}
        constructs = sorted({c for c, d in owed if d not in ("", "any")})
        columns = [*DTYPES, "index"]
        lines = [f"| construct | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        for construct in constructs:
            cells = []
            for dtype in columns:
                drawn = total[construct, dtype]
                cells.append(str(drawn) if drawn else "**0**" if (construct, dtype) in owed else "")
            name = construct.replace("|", "\\|")
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
        return "\n".join(lines)
