"""Every scalar operation on every dtype and engine gives the reference's value."""

from __future__ import annotations

import pytest
import tilewright.language as T

from conformance import engines
from conformance.engines import DTYPES, QUICK, RUNNABLE
from conformance.measure import batches, measure
from conformance.scalars import OPERATIONS


def check(dtype: str, engine: engines.Engine, full: bool) -> None:
    wrong = [
        str(outcome)
        for batch in batches(dtype, full)
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


#: Names of the language's module of scalars that are no operations on values.
NO_OPERATIONS = {"dynamic", "symbolic"}


def test_every_scalar_function_has_a_row() -> None:
    names = {
        name
        for name in T.__all__
        if getattr(getattr(T, name), "__module__", "") == "tilewright.language.scalars"
    }
    covered = {operation.name.removeprefix("T.") for operation in OPERATIONS}
    assert names - covered - NO_OPERATIONS == set()
