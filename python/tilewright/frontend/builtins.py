"""Python builtins that have a meaning on kernel values: `min(a, b)`, `range(n)`, …"""

from __future__ import annotations

import builtins
from functools import reduce
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.tile_loops import SerialLoop
from tilewright.frontend.trace import Buffer, describe, is_kernel_value
from tilewright.support.errors import LanguageError


def _refuse_tile(name: str, arguments: tuple[Any, ...], advice: str) -> None:
    if any(isinstance(argument, Buffer) for argument in arguments):
        raise LanguageError(f"'{name}' of a whole tile", hint=advice)


def _items(arguments: tuple[Any, ...]) -> list[Any]:
    if len(arguments) == 1 and not is_kernel_value(arguments[0]):
        return list(arguments[0])
    return list(arguments)


def _extreme(name: str, python: Any) -> Any:
    def function(*arguments: Any, **options: Any) -> Any:
        advice = f"use T.reduce_{name}, or loop over its elements with T.Parallel"
        _refuse_tile(name, arguments, advice)
        items = _items(arguments) if arguments else []
        if options or not any(is_kernel_value(item) for item in items):
            return python(*arguments, **options)
        state = trace.require(name)
        return reduce(lambda a, b: state.core.binary(name, a, b), items)

    return function


def kernel_range(*bounds: Any) -> Any:
    """`range`: with a kernel value as a bound, a serial loop."""
    if not any(is_kernel_value(bound) for bound in bounds):
        fraction = next((bound for bound in bounds if isinstance(bound, float)), None)
        if fraction is not None:
            hint = "a quotient of integers is 'a // b'"
            raise LanguageError(f"'range' takes integers, got {fraction}", hint=hint)
        return range(*bounds)
    return SerialLoop.from_bounds("range", bounds)


def kernel_sum(items: Any, start: Any = 0) -> Any:
    """`sum`; starting from the first item where that is a kernel value."""
    _refuse_tile("sum", (items,), "use T.reduce_sum")
    items = list(items)
    if items and start == 0 and is_kernel_value(items[0]):
        return reduce(lambda a, b: a + b, items)
    return builtins.sum(items, start)


def _junction(name: str, operation: str, python: Any) -> Any:
    def function(items: Any) -> Any:
        items = list(items)
        if not any(is_kernel_value(item) for item in items):
            return python(items)
        state = trace.require(name)
        return reduce(lambda a, b: state.core.binary(operation, a, b), items)

    return function


def _refuse(name: str, python: Any, advice: str) -> Any:
    def function(*arguments: Any, **options: Any) -> Any:
        if arguments and is_kernel_value(arguments[0]):
            raise LanguageError(f"'{name}' of a run-time value", hint=advice)
        return python(*arguments, **options)

    return function


def kernel_pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """`pow`."""
    return base**exponent if modulus is None else builtins.pow(base, exponent, modulus)


def kernel_divmod(a: Any, b: Any) -> Any:
    """`divmod`."""
    if is_kernel_value(a) or is_kernel_value(b):
        return a // b, a % b
    return builtins.divmod(a, b)


def kernel_bool(value: Any = False) -> Any:
    """`bool`."""
    if not is_kernel_value(value):
        return bool(value)
    from tilewright.frontend.loops import truth

    return truth(trace.require("bool"), value)


def kernel_round(value: Any, digits: Any = None) -> Any:
    """`round` to an integer value, halves to even."""
    if not is_kernel_value(value):
        return builtins.round(value, digits)
    if digits is not None:
        raise LanguageError("'round' of a run-time value to a number of digits")
    return trace.require("round").core.unary("round", value)


def kernel_len(value: Any) -> Any:
    """`len`."""
    _refuse_tile("len", (value,), "use its shape, as in A.shape[0]")
    return builtins.len(value)


def kernel_abs(value: Any) -> Any:
    """`abs`."""
    _refuse_tile("abs", (value,), "loop over its elements with T.Parallel")
    return builtins.abs(value)


def kernel_print(*values: Any, **options: Any) -> None:
    """`print` while the kernel is traced: of a run-time value it can say only what it is."""
    hint = " (T.print prints it when the kernel runs)"
    shown = [f"<{describe(value)}{hint}>" if is_kernel_value(value) else value for value in values]
    builtins.print(*shown, **options)


KERNEL_BUILTINS: dict[Any, Any] = {
    builtins.min: _extreme("min", builtins.min),
    builtins.max: _extreme("max", builtins.max),
    builtins.range: kernel_range,
    builtins.sum: kernel_sum,
    builtins.any: _junction("any", "or", builtins.any),
    builtins.all: _junction("all", "and", builtins.all),
    builtins.pow: kernel_pow,
    builtins.divmod: kernel_divmod,
    builtins.bool: kernel_bool,
    builtins.round: kernel_round,
    builtins.len: kernel_len,
    builtins.abs: kernel_abs,
    builtins.int: _refuse("int", builtins.int, "use T.cast(x, 'int32') or T.int32(x)"),
    builtins.float: _refuse("float", builtins.float, "use T.cast(x, 'float32') or T.float32(x)"),
    builtins.print: kernel_print,
    builtins.sorted: _refuse("sorted", builtins.sorted, "there is no sort of run-time values"),
}
