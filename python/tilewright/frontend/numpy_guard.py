"""numpy and kernel values.

A numpy function runs while Python traces. It would treat a kernel value as an object of unknown
type: fail with a text about ufuncs, or silently give the value back (`np.sum(tile)` is `tile`). So
kernel values refuse numpy's functions, and name the function of the language that does it.
Operators with a numpy scalar (`np.float32(2) * x`) mean the operator.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tilewright.frontend import vocabulary
from tilewright.support.errors import LanguageError

#: numpy's ufuncs that are operators.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "divide": operator.truediv, "true_divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne, "negative": operator.neg,
}  # fmt: skip

#: Functions of numpy and `math` under other names of the language.
TWINS = {
    "maximum": "T.max", "minimum": "T.min", "absolute": "T.abs", "fabs": "T.abs",
    "where": "T.if_then_else", "sum": "T.reduce_sum", "amax": "T.reduce_max",
    "max": "T.reduce_max", "amin": "T.reduce_min", "min": "T.reduce_min", "cumsum": "T.cumsum",
    "dot": "T.gemm", "matmul": "T.gemm", "zeros_like": "T.clear", "full_like": "T.fill",
    "fmax": "T.max", "fmin": "T.min", "arctan": "T.atan", "arctan2": "T.atan2", "rint": "T.round",
    "astype": "T.cast", "to": "T.cast", "copy": "T.copy", "fill": "T.fill", "reshape": "T.reshape",
    "view": "T.view", "transpose": "T.transpose", "T": "T.transpose", "zero_": "T.clear",
    "size": "its shape", "numel": "its shape",
}  # fmt: skip


def twin_of(name: str) -> str | None:
    """The name in the language of a function that numpy or `math` has under `name`."""
    if name in TWINS:
        return TWINS[name]
    return f"T.{name}" if vocabulary.has(name) else None


def refuse_function(name: str) -> LanguageError:
    """The error for a Python function that got a value of the kernel."""
    twin = twin_of(name.rpartition(".")[2])
    hint = f"use {twin}" if twin else "write it with functions of the language"
    return LanguageError(
        f"'{name}' runs in Python and cannot take a value of the kernel", hint=hint
    )


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    apply = _OPERATORS.get(ufunc.__name__)
    if method != "__call__" or apply is None or kwargs:
        raise refuse_function(f"np.{ufunc.__name__}")
    import numpy

    # Comparisons hand over a scalar as an array without dimensions.
    scalars = [isinstance(i, numpy.generic | numpy.ndarray) and i.ndim == 0 for i in inputs]
    plain = [i.item() if scalar else i for i, scalar in zip(inputs, scalars, strict=True)]
    if any(isinstance(value, numpy.ndarray) for value in plain):
        raise LanguageError(
            "an operator of a kernel value and a numpy array", hint="use an element of the array"
        )
    return apply(*plain)


def _array_function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    raise refuse_function(f"np.{function.__name__}")


def install(classes: tuple[type, ...]) -> None:
    """Makes the classes of kernel values known to numpy."""
    for cls in classes:
        cls.__array_ufunc__ = _array_ufunc  # type: ignore[attr-defined]
        cls.__array_function__ = _array_function  # type: ignore[attr-defined]
