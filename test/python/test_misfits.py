"""What Python raises inside our frames about the user's values is an error at the user's line."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
import tilewright
import tilewright.language as T


def trace(body: str) -> tilewright.TilewrightError | None:
    """The report for a kernel with these lines in it."""
    inside = "".join(f"        {line}\n" for line in body.split("\n"))
    text = (
        '@T.prim_func\ndef main(A: T.Tensor((64,), "float32"), N: T.Tensor((64,), "int32")):\n'
        f"    with T.Kernel(1, threads=64):\n{inside}"
    )
    file = "<misfit>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        exec(compile(text, file, "exec"), {"T": T, "np": np})
    except tilewright.TilewrightError as error:
        return error
    return None


OPERATIONS = {
    'A[0] = int("x")': "invalid literal for int",
    "A[0] = len(5)": "object of type 'int' has no len()",
    "A[0] = pow(A[1], 2, 5)": "unsupported operand type(s) for ** or pow()",
    "x = [1]\nx[5] = 2": "list assignment index out of range",
    "x = (1, 2)\nx[0] = 2": "'tuple' object does not support item assignment",
    "x = []\nx.pop()": "pop from empty list",
    "for i in 5:\n    A[i] = 1.0": "'int' object is not iterable",
    "A[0] = np.array([1.0, 2.0])": "a numpy array does not stand for one number",
    "A[np.array([1, 2])] = 1.0": "a numpy array does not stand for one number",
    "x = T.Layout()": "T.Layout() missing 2 required positional arguments",
    "A[0] = next(iter([]))": "StopIteration",
}

CALLS = {
    "T.acos('x')": "'T.acos' cannot take a Python str: must be real number",
    "T.acos(A)": "'T.acos' cannot take the tile 'A': must be real number",
    "T.fmul(A, A)": "'T.fmul' cannot take the tile 'A': unsupported operand",
    "T.index_to_coordinates('x', (3, 4))": "'T.index_to_coordinates' cannot take a Python str",
    "T.annotate_l2_hit_ratio([])": "'T.annotate_l2_hit_ratio' cannot take a Python list",
    "T.annotate_min_blocks_per_sm(2**70)": "the number 1180591620717411303424 does not fit int64",
    "T.c2d_im2col(A)": "'T.c2d_im2col': im2col() missing 7 required positional arguments",
}


@pytest.mark.parametrize("body", [*OPERATIONS, *CALLS])
def test_is_told_at_its_line(body: str) -> None:
    error = trace(body)
    assert error is not None
    assert error.kind == "error"
    assert error.location is not None
    assert 4 <= error.location.line <= 5
    assert {**OPERATIONS, **CALLS}[body] in error.message


def test_what_is_not_about_arguments_is_still_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.language.scalars._symbolic", None)
    error = trace("A[0] = T.max(A[1], 1.0)")
    assert error is not None
    assert error.kind == "internal error"


ARGUMENTS = ("'x'", "None", "2**70", "np.array([1, 2])", "A", "(4, 4)")


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_no_name_of_the_language_calls_a_foreign_argument_its_bug(argument: str) -> None:
    for name in T.__all__:
        for given in (argument, f"A[0], {argument}"):
            error = trace(f"T.{name}({given})")
            assert error is None or error.kind == "error", f"T.{name}({given}): {error}"
