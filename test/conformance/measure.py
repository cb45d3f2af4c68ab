"""Runs rows of the table on an engine: many statements in one kernel, one compilation.

for outcome in measure(batch, ENGINES["sm_80"]):
    print(outcome)                       # "sm_80 float16 T.exp: 0.5001 ulp"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product, zip_longest

import numpy as np

from conformance import references as ref
from conformance.engines import (
    Engine,
    all_patterns,
    bits_of_dtype,
    differences,
    edges,
    is_float,
    kernel_of,
    numpy_of,
    operands,
    random_values,
    run,
    ties,
)
from conformance.scalars import Case, cases, casts

#: Elements of a block: each of 128 threads has two, so that pairs of narrow floats are packed.
BLOCK = 256


@dataclass(frozen=True)
class Statement:
    """A case, with those operands that are constants of the program; `places` names the operands
    of the batch that it takes."""

    case: Case
    constants: tuple[object | None, ...] = (None, None, None)
    places: tuple[int, ...] = (0, 1, 2)

    def text(self) -> str:
        """The expression; `INF` and `NAN` are in the kernel's scope."""
        places = [f"x{k}" for k in self.places]
        for k, value in enumerate(self.constants):
            if value is not None:
                number = repr(value).replace("nan", "NAN").replace("inf", "INF")
                places[k] = f"T.{self.case.dtype}({number})"
        return self.case.operation.text.format(*places, dtype=self.case.dtype)

    def operands(self, arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """What the expression is computed from, for the reference."""
        arrays = tuple(arrays[k] for k in self.places if k < len(arrays))
        return tuple(
            array if value is None else _full(len(array), value, self.case.dtype)
            for array, value in zip_longest(arrays, self.constants[: len(arrays)])
        )[: self.case.operation.arity]


def _full(count: int, value: object, dtype: str) -> np.ndarray:
    """A Python number that takes a dtype, as an array."""
    if not is_float(dtype):
        return np.full(count, value, dtype)
    return ref.convert(np.full(count, value, np.float64), "float64", dtype)


@dataclass(frozen=True)
class Batch:
    """Statements that share a kernel, and the values of its operands."""

    name: str
    statements: tuple[Statement, ...]
    operands: tuple[np.ndarray, ...]
    #: Of the operands, where they differ.
    dtypes: tuple[str, ...] = ()

    def text(self) -> str:
        """A kernel that computes all statements of all operands; a result tensor for each dtype."""
        size = len(self.operands[0])
        results = self.results()
        names = [f"X{k}" for k in range(len(self.operands))]
        dtypes = self.dtypes or (self.statements[0].case.dtype,) * len(names)
        parameters = [
            f'{name}: T.Tensor(({size},), "{dtype}")'
            for name, dtype in zip(names, dtypes, strict=True)
        ]
        parameters += [
            f'R_{dtype}: T.Tensor(({len(rows)}, {size}), "{dtype}")'
            for dtype, rows in results.items()
        ]
        lines = [
            "@T.prim_func",
            f"def main({', '.join(parameters)}):",
            f"    with T.Kernel({size // BLOCK}, threads=128) as bx:",
            f"        for i in T.Parallel({BLOCK}):",
            f"            at = bx * {BLOCK} + i",
        ]
        lines += [f"            x{k} = {name}[at]" for k, name in enumerate(names)]
        for dtype, rows in results.items():
            for row, statement in enumerate(rows):
                lines.append(f"            R_{dtype}[{row}, at] = {statement.text()}")
        return "\n".join(lines) + "\n"

    def results(self) -> dict[str, list[Statement]]:
        """The statements by the dtype of their result."""
        groups: dict[str, list[Statement]] = {}
        for statement in self.statements:
            groups.setdefault(statement.case.result, []).append(statement)
        return groups


@dataclass(frozen=True)
class Outcome:
    """The worst error of a case on an engine, and where it was seen."""

    engine: str
    case: Case
    error: float
    tolerance: float
    example: str = ""

    @property
    def is_right(self) -> bool:
        return self.error <= self.tolerance

    def __str__(self) -> str:
        text = f"{self.engine} {self.case.dtype} {self.case.operation.name}"
        return f"{text}: {self.error:.4g} ulp{self.example if not self.is_right else ''}"


def measure(batch: Batch, engine: Engine) -> Iterator[Outcome]:
    """The outcome of each statement."""
    size = len(batch.operands[0])
    results = batch.results()
    buffers = [np.zeros((len(rows), size), numpy_of(dtype)) for dtype, rows in results.items()]
    kernel = kernel_of(f"{batch.name} {engine.name}", batch.text(), NAN=np.nan, INF=np.inf)
    filled = run(engine, kernel, *batch.operands, *buffers)[len(batch.operands) :]
    for rows, values in zip(results.values(), filled, strict=True):
        for statement, got in zip(rows, values, strict=True):
            yield _judge(statement, engine, statement.operands(batch.operands), got)


def _judge(
    statement: Statement, engine: Engine, arrays: tuple[np.ndarray, ...], got: np.ndarray
) -> Outcome:
    case = statement.case
    want = _expected(case, arrays)
    if case.result == "tfloat32" and case.operation.text in _MOVES:
        got = ref.stored(ref.numbers(got, case.result), case.result)
    if case.operation.ulps:
        errors = ref.ulp_errors(got, want, case.result)
    else:
        errors = np.zeros(len(got))
        errors[differences(got, want, case.result)] = np.inf
        if case.operation.text.startswith("T.reinterpret") and is_float(case.dtype):
            errors[np.isnan(ref.numbers(arrays[0], case.dtype))] = 0  # which NaN is left open
    at = int(np.argmax(errors))
    row = ", ".join(str(array[at]) for array in arrays)
    wrong = int(np.count_nonzero(errors > case.tolerance(engine.name)))
    example = (
        f": {statement.text()} of {row}: got {got[at]}, expected {want[at]}"
        f" ({wrong} of {len(got)} wrong)"
    )
    return Outcome(engine.name, case, float(errors[at]), case.tolerance(engine.name), example)


#: What only moves a tfloat32 may keep digits that memory holds beyond its own.
_MOVES = {
    "{0}", "T.__ldg({0})", "T.tfloat32({0})", 'T.cast({0}, "tfloat32")',
    'T.reinterpret({0}, "tfloat32")',
}  # fmt: skip

_expectations: dict[tuple, np.ndarray] = {}


def _expected(case: Case, arrays: tuple[np.ndarray, ...]) -> np.ndarray:
    """The reference's answer, computed once for all engines."""
    key = (case.dtype, case.operation.name, *(array.tobytes() for array in arrays))
    if key not in _expectations:
        _expectations[key] = case.operation.reference(case.dtype, *arrays)
    return _expectations[key]


# ---- Which values ----


def padded(values: np.ndarray) -> np.ndarray:
    """A whole number of blocks, and one element beyond a vector's width in each."""
    short = -len(values) % BLOCK
    return np.concatenate([values, np.resize(values, short)]) if short else values


def unary_values(dtype: str, full: bool) -> np.ndarray:
    """All patterns of 8 bits; in full, of 16 bits too; else edges and random ones."""
    if bits_of_dtype(dtype) == 8 or (full and bits_of_dtype(dtype) == 16):
        return padded(all_patterns(dtype))
    return padded(operands(dtype, 8192 if full else 512))


def cast_values(dtype: str, full: bool) -> np.ndarray:
    """The same and, where that is not all, numbers that a second rounding would move."""
    values = unary_values(dtype, full)
    return values if dtype == "bool" else padded(np.concatenate([ties(dtype), values]))


def tuples(dtype: str, count: int, full: bool) -> tuple[np.ndarray, ...]:
    """Pairs or triples: in full all pairs of 8 bits; else all pairs of edges, or some of them, and
    random ones. A third operand is drawn at random."""
    rng = np.random.default_rng(17)
    if dtype == "bool" or (full and bits_of_dtype(dtype) == 8):
        values = all_patterns(dtype)
    else:
        values = edges(dtype)
    first, second = (np.array(side) for side in zip(*product(values, values), strict=True))
    limit = len(first) if full else 1500
    if len(first) > limit:
        chosen = rng.choice(len(first), limit, replace=False)
        first, second = first[chosen], second[chosen]
    extra = 8192 if full else 512
    first = padded(np.concatenate([first, random_values(dtype, extra, 1)]))
    near = first.copy()  # equal and neighbouring operands
    second = padded(np.concatenate([second, random_values(dtype, extra, 2)]))
    second[::16] = near[::16]
    third = np.concatenate([values, random_values(dtype, extra, 3)])[
        rng.integers(0, len(values) + extra, len(first))
    ]
    return (first, second, third)[:count]


# ---- Which statements ----


def _numbers(dtype: str, count: int, seed: int) -> list[object]:
    """Constants of a program: edges, as Python numbers."""
    rng = np.random.default_rng(seed)
    values = edges(dtype)
    chosen = rng.choice(len(values), min(count, len(values)), replace=False)
    kind = float if is_float(dtype) else bool if dtype == "bool" else int
    # What identities of algebra hold for, almost.
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0] if is_float(dtype) else [0, 1]
    return special + [kind(values[k]) for k in sorted(chosen.tolist())]


def with_constants(dtype: str, full: bool) -> list[Statement]:
    """Operations whose right, left or all operands are constants of the program."""
    if not full and dtype not in ("int32", "float32"):
        return []
    first, second = _numbers(dtype, 6, 5), _numbers(dtype, 6, 6)
    if not full:
        first, second = first[:2], second[-2:]
    made = []
    for case in cases(dtype, 1, full):
        made += [Statement(case, (value,)) for value in first]
    for case in cases(dtype, 2, full):
        made += [Statement(case, (None, value)) for value in second]
        made += [Statement(case, (value, None)) for value in first[::4]]
        turned = [*second[3:], *second[:3]]
        for other in (second, turned) if full else (second,):
            made += [Statement(case, pair) for pair in zip(first, other, strict=True)]
    return made


def batches(dtype: str, full: bool) -> list[Batch]:
    """The kernels of a dtype."""
    one, pairs, triples = unary_values(dtype, full), tuples(dtype, 2, full), tuples(dtype, 3, full)

    def batch(what: str, chosen: list[Case], operands: tuple[np.ndarray, ...]) -> Batch:
        return Batch(f"{dtype} {what}", tuple(map(Statement, chosen)), operands)

    made = [
        batch("of one operand", cases(dtype, 1, full), (one,)),
        batch("of two operands", cases(dtype, 2, full), pairs),
        batch("of three operands", cases(dtype, 3, full), triples),
        batch("casts", casts(dtype, full), (cast_values(dtype, full),)),
    ]
    constant = with_constants(dtype, full)
    few = tuple(array[:BLOCK] for array in (padded(edges(dtype)), pairs[1]))
    for at in range(0, len(constant), 400):
        statements = tuple(constant[at : at + 400])
        made.append(Batch(f"{dtype} constants {at}", statements, few))
    return [batch for batch in made if batch.statements]
