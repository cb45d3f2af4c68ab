"""Every scalar operation on every dtype and engine gives the reference's value."""

from __future__ import annotations

import operator
import re
from pathlib import Path

import numpy as np
import pytest
import tilewright
import tilewright.language as T

from conformance import engines, promotion
from conformance.engines import DTYPES, QUICK, RUNNABLE
from conformance.measure import batches, measure
from conformance.record import Record
from conformance.scalars import OPERATIONS, casts


def check(dtype: str, engine: engines.Engine, full: bool) -> None:
    wrong = [
        str(outcome)
        for batch in (*batches(dtype, full), *promotion.batches(dtype, full))
        for outcome in measure(batch, engine)
        if not outcome.is_right
    ]
    assert not wrong, f"{len(wrong)} operations are wrong:\n" + "\n".join(wrong)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("engine", QUICK, ids=lambda engine: engine.name)
def test_edges(engine: engines.Engine, dtype: str) -> None:
    check(dtype, engine, full=False)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("engine", RUNNABLE, ids=lambda engine: engine.name)
def test_all_patterns(engine: engines.Engine, dtype: str) -> None:
    check(dtype, engine, full=True)


#: The language's modules of scalar functions, and their names that are no operations on values.
MODULES = {f"tilewright.language.{name}" for name in ("scalars", "more_math", "rounding", "nodes")}
NO_OPERATIONS = {
    "dynamic", "symbolic", "index_to_coordinates", "alloc_cluster_barrier", "tvm_storage_sync",
    "annotate_pass_configs", "annotate_compile_flags",
}  # fmt: skip
TEXTS = [row.text for row in OPERATIONS] + [c.operation.text for c in casts("float32", full=True)]


def test_every_scalar_function_has_a_row() -> None:
    names = {name for name in T.__all__ if getattr(getattr(T, name), "__module__", "") in MODULES}
    covered = {name for text in TEXTS for name in re.findall(r"T\.(\w+)\(", text)}
    assert names - covered - NO_OPERATIONS == set()


#: Python's names of operators, and how the rows write them.
OPERATORS = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "truediv": "{0} / {1}",
    "floordiv": "{0} // {1}", "mod": "{0} % {1}", "pow": "{0} ** {1}", "lshift": "{0} << {1}",
    "rshift": "{0} >> {1}", "and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}",
    "lt": "{0} < {1}", "le": "{0} <= {1}", "gt": "{0} > {1}", "ge": "{0} >= {1}",
    "eq": "{0} == {1}", "ne": "{0} != {1}", "neg": "-{0}", "invert": "~{0}", "abs": "abs({0})",
}  # fmt: skip


def test_every_operator_has_a_row() -> None:
    """Of those that a value of a kernel has, not of all Python objects."""
    seen: list[str] = []

    @T.prim_func
    def main(A: T.Tensor((1,), "int32")):
        with T.Kernel(1, threads=32):
            value = A[0] + 1
            seen.extend(dir(value))

    tilewright.compile(main, device="interp")
    operators = {name.strip("_") for name in seen if hasattr(operator, name.strip("_"))}
    operators |= {name.strip("_") for name in seen} & {"and", "or", "abs"}
    for name in operators & set(OPERATORS) | (operators - NO_ARITHMETIC):
        assert OPERATORS[name] in TEXTS, name


#: Of `operator`'s functions, those that compute no value.
NO_ARITHMETIC = {"index", "pos", "getitem", "setitem", "contains", "not", "call"}


@pytest.mark.parametrize("engine", QUICK, ids=lambda engine: engine.name)
def test_literals_are_rounded_once(engine: engines.Engine) -> None:
    """A number of the program is a double: float32 would take it to 1."""
    below, beyond = 1 - 2.0**-40, 1e300
    text = """
@T.prim_func
def main(R: T.Tensor((4,), "float16")):
    with T.Kernel(1, threads=32):
        R[0] = T.cast(BELOW, "float16", round="rz")
        R[1] = T.cast(BELOW, "float16", round="rp")
        R[2] = T.cast(BEYOND, "float16", sat=True)
        R[3] = T.cast(BEYOND, "float16")
"""
    kernel = engines.kernel_of("literals", text, BELOW=below, BEYOND=beyond)
    (got,) = engines.run(engine, kernel, np.zeros(4, np.float16))
    assert got.tolist() == [1 - 2.0**-11, 1, 65504, np.inf]


def test_a_measurement_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    record = Record(path)
    assert [record.once("a", lambda: 1.5), record.once("b", lambda: float("inf"))] == [1.5, np.inf]
    path.write_text(path.read_text()[:-4])  # stopped in the middle of a line
    again = Record(path)
    assert again.once("a", lambda: 7) == 1.5
    assert again.once("b", lambda: 8) == 8
    assert Record(path).known == {"a": 1.5, "b": 8}
