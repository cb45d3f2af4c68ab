"""The table of statements: each name of the language, the family that covers it, its parameters.

A family makes of one choice of its parameters a `Program`: a kernel's text, the arguments of a
call, and what they are afterwards. `test_statements.py` draws choices: all pairs of parameters, or
more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conformance import statements_references as ref
from conformance.engines import DTYPES, FLOATS, INTEGERS, is_float, numpy_of
from conformance.statements_operands import FORMS, MEMORIES, Operand, exists, write_kernel

Choice = Mapping[str, Any]


@dataclass
class Program:
    """A kernel's text, its arguments, and what they are after a call."""

    text: str
    arguments: list[np.ndarray]
    expected: list[np.ndarray]
    dtypes: list[str]
    #: Arguments in which -0 and +0 are the same: sums.
    unsigned_zeros: set[int] = field(default_factory=set)
    #: What the text was made of.
    operands: list[Operand] = field(default_factory=list)
    results: list[Operand] = field(default_factory=list)
    body: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Family:
    """Statements that share their lowerings."""

    names: tuple[str, ...]  # of the language
    parameters: Mapping[str, tuple[Any, ...]]
    #: The operands with a form, as (form, memory, shape, dtype).
    places: Callable[[Choice], list[tuple[str, str, tuple[int, ...], str]]]
    build: Callable[[Choice], Program]
    #: Choices that the language refuses, besides operands that do not exist.
    refused: Callable[[Choice], bool] = lambda choice: False

    def has(self, choice: Choice) -> bool:
        """Whether the language has such a program."""
        return not self.refused(choice) and all(exists(*place) for place in self.places(choice))


class Builder:
    """Collects operands, their values before and after, and statements."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.operands: list[Operand] = []
        self.results: list[Operand] = []
        self.before: list[np.ndarray] = []
        self.after: list[np.ndarray] = []
        self.body: list[str] = []
        self.sums: set[int] = set()

    def reads(self, operand: Operand, values: np.ndarray) -> None:
        self.operands.append(operand)
        self.before.append(operand.place(values, seed=len(self.operands)))
        self.after.append(self.before[-1])

    def writes(self, operand: Operand, old: np.ndarray, new: np.ndarray, *, is_sum: bool = False
               ) -> None:  # fmt: skip
        self.operands.append(operand)
        self.results.append(operand)
        self.before.append(operand.place(old, seed=len(self.operands)))
        self.after.append(operand.replaced(self.before[-1], new))
        if is_sum:
            self.sums.add(len(self.operands) - 1)

    def program(self, threads: int) -> Program:
        text = write_kernel(self.operands, self.results, self.body, threads)
        dtypes = [operand.dtype for operand in self.operands]
        return Program(text, self.before, self.after, dtypes, self.sums, self.operands,
                       self.results, self.body)  # fmt: skip


# ---- Values ----


def draw(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], low: int = -3,
         high: int = 4) -> np.ndarray:  # fmt: skip
    """Small numbers, whose sums are exact in float32; all bits of integers."""
    if dtype == "bool":
        return rng.integers(0, 4, shape) == 0
    if is_float(dtype):
        return rng.integers(low, high, shape).astype(np.float32).astype(numpy_of(dtype))
    return rng.integers(0, 256, (*shape, numpy_of(dtype).itemsize), "u1").view(dtype)[..., 0]


def draw_small(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers that every dtype of the same kind holds, sums of a few of them too."""
    low = 0 if dtype == "bool" or dtype.startswith("u") else -1
    return rng.integers(low, 2, shape).astype(np.float32).astype(numpy_of(dtype))


def with_specials(values: np.ndarray, dtype: str) -> np.ndarray:
    """NaNs, infinities and zeros of both signs in a tile of floats."""
    if not is_float(dtype) or values.size < 16:
        return values
    specials = [np.nan, -0.0, 0.0]
    if dtype != "float8_e4m3fn":
        specials += [np.inf, -np.inf]
    flat = values.reshape(-1).copy()
    flat[5 : 5 + 7 * len(specials) : 7] = np.array(specials, np.float32).astype(flat.dtype)
    last = values.shape[-1]
    flat[-last:] = np.array(np.nan, np.float32).astype(flat.dtype)
    return flat.reshape(values.shape)


# ---- Reductions ----

#: Shape, and the dimension along which it is combined.
PLACES = (
    ((64,), 0), ((16, 16), 1), ((16, 16), 0), ((3, 8, 16), 2), ((3, 8, 16), 1), ((2, 200), 1),
    ((40, 8), 0),
)  # fmt: skip
#: Dtypes of the result besides the source's own.
RESULTS = {
    "bool": ("int32", "uint8", "int64"),
    "int8": ("int32", "uint8", "int64"),
    "uint8": ("int16", "uint32", "bool"),
    "int16": ("int64", "uint16", "int8"),
    "uint16": ("int8", "uint64", "int32"),
    "int32": ("int8", "int64", "bool"),
    "uint32": ("uint8", "int64", "int32"),
    "int64": ("int32", "uint8", "uint64"),
    "uint64": ("uint32", "int64", "bool"),
    "float8_e4m3fn": ("float32", "float16", "float8_e5m2"),
    "float8_e5m2": ("float32", "bfloat16", "float64"),
    "float16": ("float32", "float64", "float8_e4m3fn"),
    "bfloat16": ("float32", "float16", "float64"),
    "float32": ("float16", "float64", "bfloat16"),
    "float64": ("float32", "float16", "bfloat16"),
    "tfloat32": ("float32", "float16", "float64"),
}


def _result_of(choice: Choice) -> str:
    names = (choice["dtype"], *RESULTS[choice["dtype"]])
    return names[choice["result"]]


def _reduced_shape(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return shape[:dim] + shape[dim + 1 :] or (1,)


def reductions(choice: Choice) -> Program:
    """Every kind of reduction of one tile, with and without the old result."""
    dtype, result = choice["dtype"], _result_of(choice)
    shape, dim = choice["place"]
    reduced = _reduced_shape(shape, dim)
    dest_form = choice["dest form"]
    build = Builder()
    values = with_specials(draw(build.rng, dtype, shape), dtype)
    build.reads(Operand("a", dtype, shape, choice["form"], choice["memory"]), values)
    kinds = [k for k in ref.KINDS if not (k.startswith("bit") and is_float(dtype))]
    for number, kind in enumerate(kinds):
        clear = (number + choice["turn"]) % 2 == 0
        propagate = kind in ("max", "min", "absmax") and choice["turn"] == 1
        old = draw(build.rng, result, reduced)
        new = ref.reduce(kind, values, dtype, dim, result, None if clear else old, propagate)
        name = f"d{number}"
        dest = Operand(name, result, reduced, dest_form, choice["dest memory"])
        build.writes(dest, old, new.reshape(reduced), is_sum=kind in ref.SUMS)
        option = ", nan_propagate=True" if propagate else ""
        build.body.append(f"T.reduce_{kind}(a, {name}, dim={dim}, clear={clear}{option})")
    return build.program(choice["threads"])


def scans(choice: Choice) -> Program:
    """Running sums and maxima, from one end or the other, into another tile and in place."""
    dtype, result = choice["dtype"], _result_of(choice)
    shape, dim = choice["place"]
    build = Builder()
    values = draw(build.rng, dtype, shape)
    build.reads(Operand("a", dtype, shape, choice["form"], choice["memory"]), values)
    reverse = choice["turn"] == 1
    dest = Operand("d", result, shape, choice["dest form"], choice["dest memory"])
    new = ref.scan("sum", values, dtype, dim, result, reverse)
    build.writes(dest, draw(build.rng, result, shape), new, is_sum=True)
    build.body.append(f"T.cumsum(a, d, dim={dim}, reverse={reverse})")
    for name, kind, statement in (("e", "max", "cummax"), ("f", "sum", "cumsum")):
        new = ref.scan(kind, values, dtype, dim, dtype, not reverse)
        again = Operand(name, dtype, shape, choice["form"], choice["memory"])
        build.writes(again, values, new, is_sum=kind == "sum")
        build.body.append(f"T.{statement}({name}, dim={dim}, reverse={not reverse})")
    return build.program(choice["threads"])


REDUCER_OPS = {"sum": "sum", "max": "max", "min": "min", "bitand": "bitand", "bitor": "bitor",
               "bitxor": "bitxor"}  # fmt: skip
#: Stores that contribute.
REDUCER_STORES = {"sum": "{element} += {value}", "max": "{element} = T.max({element}, {value})",
                  "min": "{element} = T.min({value}, {element})", "bitand": "{element} &= {value}",
                  "bitor": "{element} |= {value}", "bitxor": "{element} ^= {value}"}  # fmt: skip


def reducers(choice: Choice) -> Program:
    """Contributions of a tile to the elements of a reducer, with and without a value to start."""
    dtype, memory, form = choice["dtype"], choice["memory"], choice["form"]
    shape = (8, 8)
    build = Builder()
    values = draw_small(build.rng, dtype, shape)
    build.reads(Operand("a", dtype, shape, form, memory), values)
    for number, op in enumerate(REDUCER_OPS):
        if op.startswith("bit") and is_float(dtype):
            continue
        start = np.full(8, 1).astype(numpy_of(dtype)) if (number + choice["turn"]) % 2 else None
        new = ref.reduce(op, values, dtype, 1, dtype, start)
        dest = Operand(f"d{number}", dtype, (8,), memory=choice["dest memory"])
        build.writes(dest, draw_small(build.rng, dtype, (8,)), new, is_sum=op == "sum")
        build.body += [
            f'r{number} = T.alloc_reducer((8,), "{dtype}", op="{op}")',
            f"T.reducer_init(r{number}{'' if start is None else ', 1'})",
            "for i, j in T.Parallel(8, 4):",
            f"    T.reducer_update(r{number}[i], a[i, j])",
            "for i, j in T.Parallel(8, 4):",
            "    " + REDUCER_STORES[op].format(element=f"r{number}[i]", value="a[i, j + 4]"),
        ]
        if choice["turn"]:
            build.body += [f"T.finalize_reducer(r{number})", f"T.copy(r{number}, d{number})"]
        else:
            build.body.append(f"T.finalize_reducer(r{number}, d{number})")
    return build.program(choice["threads"])


# ---- Updates ----

ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
STORE_ORDERS = ("relaxed", "release", "seq_cst")


def atomics(choice: Choice) -> Program:
    """Updates of elements, with what they find; of a region by a tile and by a scalar; reads and
    stores."""
    dtype, form, memory = choice["dtype"], choice["form"], choice["memory"]
    shape = (4, 16)
    build = Builder()
    values = draw_small(build.rng, dtype, shape)
    build.reads(Operand("a", dtype, shape, choice["value form"], "shared"), values)
    kinds = ("add", "max", "min") if choice["turn"] % 2 else ("add", "and", "or", "xor")
    if is_float(dtype):
        kinds = ("add", "max", "min")
    for number, kind in enumerate(kinds):
        order = ORDERS[(choice["turn"] + number) % len(ORDERS)]
        old = draw_small(build.rng, dtype, shape)
        once = ref.updated(kind, old, values, dtype)
        one = np.full(shape, 1).astype(numpy_of(dtype))
        new = ref.updated(kind, ref.updated(kind, once, values, dtype), one, dtype)
        name = f"d{number}"
        build.writes(Operand(name, dtype, shape, form, memory), old, new, is_sum=kind == "add")
        build.writes(Operand(f"p{number}", dtype, shape), draw_small(build.rng, dtype, shape), old)
        build.body += [
            "for i, j in T.Parallel(4, 16):",
            f"    p{number}[i, j] = T.atomic_{kind}({name}[i, j], a[i, j], return_prev=True, "
            f'memory_order="{order}")',
            f'T.atomic_{kind}({name}, a, memory_order="{order}")',
            f"T.atomic_{kind}({name}, 1)",
        ]
        if kind == "add":
            build.writes(
                Operand("q", dtype, shape), draw_small(build.rng, dtype, shape), new, is_sum=True
            )
            build.body += [
                "for i, j in T.Parallel(4, 16):",
                f"    q[i, j] = T.atomic_load({name}[i, j])",
            ]
    order = STORE_ORDERS[choice["turn"] % len(STORE_ORDERS)]
    old = draw_small(build.rng, dtype, shape)
    build.writes(Operand("s", dtype, shape, form, memory), old, values)
    build.body += [
        "for i, j in T.Parallel(4, 16):",
        f'    T.atomic_store(s[i, j], a[i, j], memory_order="{order}")',
    ]
    return build.program(choice["threads"])


def neighbours(choice: Choice) -> Program:
    """`T.atomic_addx2` and `T.atomic_addx4`: neighbouring elements at once."""
    dtype, form, memory = choice["dtype"], choice["form"], choice["memory"]
    shape = (4, 16)
    build = Builder()
    values = draw_small(build.rng, dtype, shape)
    build.reads(Operand("a", dtype, shape, memory="shared"), values)
    for count in (2, 4):
        old = draw_small(build.rng, dtype, shape)
        new = ref.updated("add", old, values, dtype)
        build.writes(Operand(f"d{count}", dtype, shape, form, memory), old, new, is_sum=True)
        build.body += [
            f"for i, j in T.Parallel(4, {16 // count}):",
            f"    T.atomic_addx{count}(d{count}[i, j * {count}], a[i, j * {count}])",
        ]
    return build.program(choice["threads"])


# ---- Moves ----


def copies(choice: Choice) -> Program:
    """A tile into another of any dtype; values that both hold."""
    dtype, to, shape = choice["dtype"], choice["to"], choice["shape"]
    build = Builder()
    if is_float(dtype) == is_float(to) and not is_float(dtype):
        values = draw(build.rng, dtype, shape)
    elif is_float(dtype) and is_float(to):
        values = draw(build.rng, dtype, shape)
    else:
        values = draw_small(build.rng, dtype, shape)
        if to.startswith("u"):
            values = abs(values) if dtype != "bool" else values
    build.reads(Operand("a", dtype, shape, choice["form"], choice["memory"]), values)
    new = ref.converted(values, dtype, to)
    dest = Operand("d", to, shape, choice["dest form"], choice["dest memory"])
    build.writes(dest, draw(build.rng, to, shape), new)
    build.body.append("T.copy(a, d)")
    return build.program(choice["threads"])


def fills(choice: Choice) -> Program:
    """`T.fill` with numbers of every kind, and `T.clear`."""
    dtype, shape = choice["dtype"], choice["shape"]
    build = Builder()
    value = {"bool": True}.get(dtype, 1.5 if is_float(dtype) else 3)
    for number, (text, number_value) in enumerate(((f"T.fill(d0, {value})", value),
                                                   ("T.clear(d1)", 0))):  # fmt: skip
        new = np.full(shape, number_value, np.float32).astype(numpy_of(dtype))
        dest = Operand(f"d{number}", dtype, shape, choice["form"], choice["memory"])
        build.writes(dest, draw(build.rng, dtype, shape), new)
        build.body.append(text)
    return build.program(choice["threads"])


def transpositions(choice: Choice) -> Program:
    """`T.transpose` between any two forms."""
    dtype, shape = choice["dtype"], (8, 16)
    build = Builder()
    values = draw(build.rng, dtype, shape)
    build.reads(Operand("a", dtype, shape, choice["form"], choice["memory"]), values)
    dest = Operand("d", dtype, shape[::-1], choice["dest form"], choice["dest memory"])
    build.writes(dest, draw(build.rng, dtype, shape[::-1]), values.T)
    build.body.append("T.transpose(a, d)")
    return build.program(choice["threads"])


def patches(choice: Choice) -> Program:
    """`T.im2col` of a small image."""
    dtype, form, memory = choice["dtype"], choice["form"], choice["memory"]
    image, kernel, pad = (1, 2, 2, 8), 3, 1
    rows, columns = 4, kernel * kernel * 8
    build = Builder()
    values = draw(build.rng, dtype, image)
    build.reads(Operand("a", dtype, image), values)
    wide = np.zeros((4, 4, 8), numpy_of(dtype))
    wide[1:3, 1:3] = values[0]
    new = np.stack([wide[r // 2 : r // 2 + 3, r % 2 : r % 2 + 3].reshape(-1) for r in range(rows)])
    dest = Operand("d", dtype, (rows, columns), form, memory)
    build.writes(dest, draw(build.rng, dtype, (rows, columns)), new)
    build.body.append(f"T.im2col(a, d, 0, 0, {kernel}, 1, 1, {pad})")
    return build.program(choice["threads"])


def questions(choice: Choice) -> Program:
    """`T.any_of` and `T.all_of` of tiles with none, some and all elements set."""
    dtype, form, memory = choice["dtype"], choice["form"], choice["memory"]
    shape = (4, 16)
    build = Builder()
    for number, kept in enumerate((0, 0.5, 1)):
        chosen = build.rng.random(shape) < kept
        values = chosen.astype(np.float32).astype(numpy_of(dtype))
        build.reads(Operand(f"a{number}", dtype, shape, form, memory), values)
        answers = np.array([chosen.any(), chosen.all()])
        build.writes(Operand(f"d{number}", "bool", (2,)), ~answers, answers)
        build.body += [f"d{number}[0] = T.any_of(a{number})", f"d{number}[1] = T.all_of(a{number})"]
    return build.program(choice["threads"])


def byte_products(choice: Choice) -> Program:
    """`T.dp4a`: four products of bytes, added to a number."""
    form, memory = choice["form"], choice["memory"]
    build = Builder()
    a, b = (draw(build.rng, "int8", (4, 16)) for _ in range(2))
    c = draw(build.rng, "int32", (4, 4))
    build.reads(Operand("a", "int8", (4, 16), form, memory), a)
    build.reads(Operand("b", "int8", (4, 16), form, memory), b)
    sums = (a.astype(np.int64) * b).reshape(4, 4, 4).sum(-1) + c
    build.writes(Operand("c", "int32", (4, 4)), c, sums.astype(np.int32))
    build.body += [
        "for i, j in T.Parallel(4, 4):",
        "    T.dp4a(a[i, j * 4], b[i, j * 4], c[i, j])",
    ]
    return build.program(choice["threads"])


# ---- Products ----

#: Dtypes of A, of B, and of C.
GEMM_TYPES = (
    *((f, f, c) for f in FLOATS for c in FLOATS),
    *((f, f, "float32") for f in ("float8_e4m3fn", "float8_e5m2", "tfloat32")),
    ("float8_e4m3fn", "float8_e5m2", "float32"),
    ("float8_e5m2", "float8_e4m3fn", "float16"),
    *((i, i, i) for i in INTEGERS),
    ("int8", "int8", "int32"),
    ("uint8", "uint8", "int32"),
    ("int8", "uint8", "int32"),
    ("uint8", "int8", "int32"),
    ("int8", "int8", "int64"),
    ("int16", "int16", "int32"),
    ("uint8", "uint8", "uint16"),
    ("int32", "int32", "int8"),
)
#: M, N, K: on the tensor cores, and not.
EXTENTS = ((32, 16, 32), (16, 32, 64), (8, 12, 16), (24, 8, 8))


def products(choice: Choice) -> Program:
    """C += A B, with operands in any form; then once more from zero."""
    first, second, result = choice["dtypes"]
    m, n, k = choice["extents"]
    turned_a, turned_b = choice["turned"]
    shape_a, shape_b = (k, m) if turned_a else (m, k), (n, k) if turned_b else (k, n)
    build = Builder()
    # Sums of a few of these products are exact in every accumulator.
    sparse = build.rng.random(shape_a) < 4 / k
    a = (draw_small(build.rng, first, shape_a) * sparse.astype(numpy_of(first))).astype(
        numpy_of(first)
    )
    b = draw_small(build.rng, second, shape_b)
    if not is_float(first):
        a, b = draw(build.rng, first, shape_a), draw(build.rng, second, shape_b)
    build.reads(Operand("a", first, shape_a, choice["form"], choice["memory"]), a)
    build.reads(Operand("b", second, shape_b, choice["form b"], choice["memory b"]), b)
    x, y = a.T if turned_a else a, b.T if turned_b else b
    for number, clear in enumerate((False, True, "c0[0, 0] == c0[0, 0]")[: 2 + choice["turn"]]):
        old = draw_small(build.rng, result, (m, n))
        new = ref.product(x, y, None if clear else old, (first, second, result))
        dest = Operand(f"c{number}", result, (m, n), choice["form c"], choice["memory c"])
        build.writes(dest, old, new, is_sum=True)
        build.body.append(
            f"T.gemm(a, b, c{number}, transpose_A={turned_a}, transpose_B={turned_b}, "
            f"clear_accum={clear})"
        )
    return build.program(choice["threads"])


# ---- Statements that read what they write ----


def overlaps(choice: Choice) -> Program:
    """Each reads all of its operands before it writes the first element."""
    dtype, form, memory = choice["dtype"], choice["form"], choice["memory"]
    build = Builder()
    values = draw_small(build.rng, dtype, (16, 16))
    moved, summed, running = values.copy(), values.copy(), values.copy()
    moved[1:, :] = values[:-1, :]
    summed[:, 3] = ref.reduce("sum", values, dtype, 1, dtype)
    running[1:, :] = ref.scan("sum", values[:-1, :], dtype, 0, dtype, False)
    squared = values
    if dtype != "bool":
        squared = ref.product(values, values, values, (dtype, dtype, dtype))
    statements = {
        "T.copy(d0[0:15, 0:16], d0[1:16, 0:16])": moved,
        "T.reduce_sum(d1, d1[0:16, 3:4], dim=1)": summed,
        "T.cumsum(d2[0:15, 0:16], d2[1:16, 0:16], dim=0)": running,
        "T.gemm(d3, d3, d3)": squared,
    }
    for number, (text, new) in enumerate(statements.items()):
        if number % 2 != choice["turn"] or (dtype == "bool" and "gemm" in text):
            continue
        build.writes(Operand(f"d{number}", dtype, (16, 16), form, memory), values, new, is_sum=True)
        build.body.append(text)
    return build.program(choice["threads"])


# ---- The table ----

_PLACED: dict[str, tuple[Any, ...]] = {"dtype": DTYPES, "form": FORMS, "memory": MEMORIES}
_DEST: dict[str, tuple[Any, ...]] = {"dest form": FORMS, "dest memory": MEMORIES}
_THREADS: dict[str, tuple[Any, ...]] = {"threads": (32, 128)}
_TURN: dict[str, tuple[Any, ...]] = {"turn": (0, 1)}


def _source(choice: Choice, shape: tuple[int, ...]) -> tuple[str, str, tuple[int, ...], str]:
    return choice["form"], choice["memory"], shape, choice["dtype"]


def _one(shape: tuple[int, ...]) -> Callable[[Choice], list[Any]]:
    """One operand of this shape."""
    return lambda choice: [_source(choice, shape)]


def _reduced(choice: Choice) -> list[Any]:
    shape, dim = choice["place"]
    result = _reduced_shape(shape, dim)
    dest = (choice["dest form"], choice["dest memory"], result, _result_of(choice))
    return [_source(choice, shape), dest]


def _scanned(choice: Choice) -> list[Any]:
    shape, _ = choice["place"]
    dest = (choice["dest form"], choice["dest memory"], shape, _result_of(choice))
    return [_source(choice, shape), dest]


def _copied(choice: Choice) -> list[Any]:
    shape = choice["shape"]
    dest = (choice["dest form"], choice["dest memory"], shape, choice["to"])
    return [_source(choice, shape), dest]


def _multiplied(choice: Choice) -> list[Any]:
    first, second, result = choice["dtypes"]
    m, n, k = choice["extents"]
    turned_a, turned_b = choice["turned"]
    return [
        (choice["form"], choice["memory"], (k, m) if turned_a else (m, k), first),
        (choice["form b"], choice["memory b"], (n, k) if turned_b else (k, n), second),
        (choice["form c"], choice["memory c"], (m, n), result),
    ]


def _in_registers(choice: Choice) -> bool:
    """Updates are of memory, and of numbers."""
    return choice["memory"] == "fragment" or choice["dtype"] == "bool"


_SHAPES: dict[str, tuple[Any, ...]] = {"shape": ((64,), (8, 32), (3, 4, 16))}

FAMILIES: dict[str, Family] = {
    "reductions": Family(
        tuple(f"reduce_{kind}" for kind in ref.KINDS),
        {**_PLACED, **_DEST, "result": (0, 1, 2, 3), "place": PLACES, **_THREADS, **_TURN},
        _reduced,
        reductions,
    ),
    "scans": Family(
        ("cumsum", "cummax"),
        {**_PLACED, **_DEST, "result": (0, 1, 2, 3), "place": PLACES, **_THREADS, **_TURN},
        _scanned,
        scans,
    ),
    "reducers": Family(
        ("alloc_reducer", "reducer_init", "reducer_update", "finalize_reducer"),
        {**_PLACED, "dest memory": MEMORIES, **_THREADS, **_TURN},
        _one((8, 8)),
        reducers,
    ),
    "atomics": Family(
        (*(f"atomic_{kind}" for kind in ref.UPDATES), "atomic_load", "atomic_store"),
        {**_PLACED, "value form": ("plain", "bytes", "reshaped", "slice"), **_THREADS,
         "turn": tuple(range(len(ORDERS)))},
        lambda choice: [_source(choice, (4, 16)),
                        (choice["value form"], "shared", (4, 16), choice["dtype"])],
        atomics,
        _in_registers,
    ),
    "neighbours": Family(("atomic_addx2", "atomic_addx4"), {**_PLACED, **_THREADS},
                         _one((4, 16)), neighbours, _in_registers),
    "copies": Family(("copy",), {**_PLACED, **_DEST, "to": DTYPES, **_SHAPES, **_THREADS},
                     _copied, copies),
    "fills": Family(("fill", "clear"), {**_PLACED, **_SHAPES, **_THREADS},
                    lambda choice: [_source(choice, choice["shape"])], fills),
    "transpositions": Family(("transpose",), {**_PLACED, **_DEST, **_THREADS},
                             lambda choice: [_source(choice, (8, 16)),
                                             (choice["dest form"], choice["dest memory"], (16, 8),
                                              choice["dtype"])],
                             transpositions),
    "patches": Family(("im2col", "c2d_im2col"), {**_PLACED, **_THREADS}, _one((4, 72)),
                      patches),
    "questions": Family(("any_of", "all_of"), {**_PLACED, **_THREADS}, _one((4, 16)),
                        questions),
    "byte products": Family(("dp4a",), {**_PLACED, "dtype": ("int8",), **_THREADS}, _one((4, 16)),
                            byte_products),
    "products": Family(
        ("gemm",),
        {
            "dtypes": GEMM_TYPES, "form": FORMS, "memory": MEMORIES, "form b": FORMS,
            "memory b": MEMORIES, "form c": FORMS, "memory c": MEMORIES, "extents": EXTENTS,
            "turned": ((False, False), (True, False), (False, True), (True, True)),
            **_THREADS, **_TURN,
        },
        _multiplied,
        products,
    ),
}  # fmt: skip

#: Forms whose slices exist.
_SLICED = ("plain", "bytes", "words", "reshaped", "layout", "swizzled", "padded")
FAMILIES["overlaps"] = Family(
    (),
    {**_PLACED, "form": _SLICED, **_THREADS, **_TURN},
    _one((16, 16)),
    overlaps,
)

#: Names of the same modules that are no statements on tiles.
OTHERS = {
    "view": "an operand form", "reshape": "an operand form", "dimension": "a check",
    "require_tile": "a check",
}  # fmt: skip
