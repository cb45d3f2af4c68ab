"""Runs a function twice: as plain Python on lists, and as a kernel. Both must agree.

The function is written once, on two sequences of integers (input and output); `range` is a loop of
Python or a serial loop of the kernel, assignments and control flow are Python's or traced.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import tilewright
import tilewright.language as T

SIZE = 16
_numbers = itertools.count()


def run_kernel(body: Callable[..., None], values: list[int]) -> list[int]:
    """`body(A, B)` inlined into a kernel of one block."""
    inlined = T.macro(body)

    @T.prim_func
    def main(A: T.Tensor((SIZE,), "int32"), B: T.Tensor((SIZE,), "int32")):
        with T.Kernel(1, threads=32):
            inlined(A, B)

    output = np.zeros(SIZE, np.int32)
    tilewright.compile(main, device="interp")(np.array(values, np.int32), output)
    return output.tolist()


def run_python(body: Callable[..., None], values: list[int]) -> list[int]:
    """`body(A, B)` as Python."""
    output = [0] * SIZE
    body(list(values), output)
    return output


def assert_same_meaning(body: Callable[..., None], *inputs: list[int]) -> None:
    """Compares the two runs on each input."""
    for values in inputs or INPUTS:
        padded = (values + [0] * SIZE)[:SIZE]
        assert run_kernel(body, padded) == run_python(body, padded), values


INPUTS = (
    [0] * SIZE,
    list(range(SIZE)),
    list(range(SIZE, 0, -1)),
    [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, -8, 9, 7, 9, 3],
    [1] * 8 + [-1] * 8,
)


def function_from_source(source: str, name: str = "body", **names: Any) -> Any:
    """Defines a function from text that may use `names`; the text stays reachable."""
    file = f"<generated {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"T": T, **names}
    exec(compile(source, file, "exec"), scope)
    return scope[name]
