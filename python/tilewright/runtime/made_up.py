"""Inputs for kernels called without arguments: for `kernel.verify()` and `tw check`.

Numbers come from a generator with a fixed seed, so that two runs see the same. Floats lie between
-1 and 1. Integers of 32 and 64 bits, which often are indices, are small and not negative. Shape
symbols get a size that is no multiple of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.runtime.arguments import evaluate_extent
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical

#: What symbols of shapes are tried as; the first with which all tensors fit is taken.
_SIZES = (200, 72, 20, 5)

#: The most elements that made-up tensors with symbols may have together.
_MOST_ELEMENTS = 1 << 20


def symbols_of(params: list[dict[str, Any]]) -> list[str]:
    """The symbols that the shapes of the tensors are made of, in order."""
    import ast

    found: dict[str, None] = {}
    for parameter in params:
        for extent in parameter["shape"]:
            if isinstance(extent, str):
                for node in ast.walk(ast.parse(extent, mode="eval")):
                    if isinstance(node, ast.Name) and node.id not in ("min", "max"):
                        found[node.id] = None
    return list(found)


def choose_sizes(params: list[dict[str, Any]], given: Mapping[str, int]) -> dict[str, int]:
    """A value for each symbol: the given ones, and for the others the largest that fits."""
    symbols = symbols_of(params)
    for name in given:
        if name not in symbols:
            raise LanguageError(
                f"no shape has a symbol '{name}'",
                hint=f"the symbols are {', '.join(symbols)}" if symbols else None,
            )
    for size in _SIZES:
        sizes = {name: int(given.get(name, size)) for name in symbols}
        elements = 0
        for parameter in params:
            count = 1
            for extent in parameter["shape"]:
                count *= evaluate_extent(extent, sizes, parameter)
            elements += count
        if elements <= _MOST_ELEMENTS:
            break
    return sizes


def make_inputs(
    params: list[dict[str, Any]], outputs: list[int], sizes: Mapping[str, int] | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """A value for each parameter that is not in `outputs`, None for the others; and which sizes and
    numbers were chosen, by name."""
    import numpy as np

    rng = np.random.default_rng(0)
    chosen: dict[str, Any] = dict(choose_sizes(params, sizes or {}))
    symbols = dict(chosen)
    values: list[Any] = []
    for position, parameter in enumerate(params):
        if position in outputs:
            values.append(None)
        elif parameter["kind"] == "scalar":
            value = _number(parameter["dtype"])
            chosen[parameter["name"]] = value
            values.append(value)
        else:
            shape = tuple(evaluate_extent(e, symbols, parameter) for e in parameter["shape"])
            values.append(_tensor(rng, parameter["dtype"], shape))
    return values, chosen


def _number(dtype: str) -> Any:
    if dtype == "bool":
        return True
    return 0.5 if "float" in dtype else 3


def _tensor(rng: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    kind = canonical(dtype).as_numpy()
    if "float" in dtype:
        return rng.uniform(-1.0, 1.0, shape).astype(kind)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(kind)
    least = -3 if dtype in ("int8", "int16") else 0
    return rng.integers(least, 4, shape).astype(kind)
