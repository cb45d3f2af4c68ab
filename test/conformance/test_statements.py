"""Every statement on every dtype, operand form and engine, against references of their own.

`make test` runs every dtype in every memory, every form in every memory, and all of these on three
engines. `make test-long` runs every dtype in every form and memory on every engine, all pairs with
and of the other parameters, and random choices.
"""

from __future__ import annotations

import random
from inspect import isfunction
from typing import Any

import numpy as np
import pytest
import tilewright.language as T
from tilewright.language import allocation, atomics, composed, tiles

from conformance.engines import (
    ENGINES,
    QUICK,
    RUNNABLE,
    Engine,
    differences,
    is_float,
    kernel_of,
    numpy_of,
    run,
)
from conformance.statements import FAMILIES, OTHERS, Choice, Program
from conformance.statements_pairs import all_pairs

#: Tests of a family, each of some of its choices, so that workers share them.
PARTS = 4
#: Of which parameters `make test` draws all pairs of values.
QUICK_PAIRS = (
    {"dtype", "memory"}, {"dtype", "engine"}, {"dtypes", "engine"}, {"form", "memory"},
    {"form", "engine"}, {"memory", "engine"}, {"memory"},
)  # fmt: skip


def test_every_statement_has_a_row() -> None:
    covered = {name for family in FAMILIES.values() for name in family.names}
    known = {
        name
        for module in (tiles, atomics, composed)
        for name, value in vars(module).items()
        if isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert known - covered - set(OTHERS) == set()
    assert covered - known == {"alloc_reducer"}
    assert all(hasattr(T, name) for name in covered)
    assert allocation.alloc_reducer


def zeros_alike(array: np.ndarray, dtype: str) -> np.ndarray:
    """The same with +0 for -0."""
    return np.where(array == 0, np.zeros_like(array), array) if is_float(dtype) else array


def check(engine: Engine, program: Program, what: str) -> None:
    """Runs a program; every argument must be what the reference says, bit for bit."""
    got = run(engine, kernel_of(what, program.text), *program.arguments)
    for position, (dtype, expected) in enumerate(
        zip(program.dtypes, program.expected, strict=True)
    ):
        # A NaN equals every NaN, also where a view makes it of bytes.
        mine, want = (array.view(numpy_of(dtype)) for array in (got[position], expected))
        if position in program.unsigned_zeros:
            mine, want = zeros_alike(mine, dtype), zeros_alike(want, dtype)
        wrong = differences(mine, want, dtype)
        shown = [(int(i), mine.ravel()[i], want.ravel()[i]) for i in wrong[:3]]
        assert not shown, (
            f"{what} on {engine.name}: argument {position}, {len(wrong)} of {want.size} differ: "
            f"(place, got, expected) {shown}\n{program.text}"
        )


def check_all(family: str, choices: list[Choice]) -> None:
    """All of these; the failures of all in one message."""
    failures = []
    for choice in choices:
        row = FAMILIES[family]
        what = f"{family} { ({k: v for k, v in choice.items() if k != 'engine'}) }"
        try:
            check(ENGINES[choice["engine"]], row.build(choice), what)
        except Exception as error:
            failures.append(f"{what} on {choice['engine']}: {type(error).__name__}: {error}")
    assert not failures, f"{len(failures)} of {len(choices)} fail\n" + "\n".join(failures[:5])


#: Of which parameters `make test-long` runs every combination.
PRODUCT = ("engine", "dtype", "dtypes", "form", "memory")


def choices_of(family: str, engines: tuple[Engine, ...], quick: bool) -> list[Choice]:
    row = FAMILIES[family]
    parameters = {**row.parameters, "engine": tuple(engine.name for engine in engines)}

    def wanted(first: str, second: str) -> bool:
        kinds = {name.removeprefix("dest ").split()[0] for name in (first, second)}
        return not quick or kinds in QUICK_PAIRS

    return all_pairs(parameters, row.has, wanted, within=() if quick else PRODUCT)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("family", list(FAMILIES))
def test_dtypes_and_forms(family: str, part: int) -> None:
    check_all(family, choices_of(family, QUICK, quick=True)[part::PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_product_and_all_pairs(family: str, part: int) -> None:
    check_all(family, choices_of(family, RUNNABLE, quick=False)[part::10])


@pytest.mark.parametrize("family", list(FAMILIES))
def test_choices_hold_the_product_and_all_pairs(family: str) -> None:
    """Counted from the parameters, on two engines: dtypes x forms x memories, and each pair that
    a choice can have."""
    row = FAMILIES[family]
    choices = choices_of(family, QUICK[:2], quick=False)
    kept = [name for name in PRODUCT if name in row.parameters]
    drawn = {
        tuple(choice[name] for name in kept) for choice in choices if choice["engine"] == "interp"
    }
    rng = random.Random(1)
    for _ in range(300):
        choice = {name: rng.choice(values) for name, values in row.parameters.items()}
        if not row.has(choice):
            continue
        assert tuple(choice[name] for name in kept) in drawn
        first, second = rng.sample(sorted(choice), 2)
        assert any(c[first] == choice[first] and c[second] == choice[second] for c in choices)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("family", list(FAMILIES))
def test_random_choices_on_all_engines(family: str, part: int) -> None:
    row = FAMILIES[family]
    rng = random.Random(part)
    drawn: list[Any] = []
    while len(drawn) < 50 * len(RUNNABLE):
        choice = {name: rng.choice(values) for name, values in row.parameters.items()}
        if row.has(choice):
            drawn += [{**choice, "engine": engine.name} for engine in RUNNABLE]
    check_all(family, drawn)
