"""Python's operators on whole tiles, and texts of run-time values.

A tile has no order and no truth while Python traces. Without a guard `tile == 0` would silently be
False, as it is for any two different objects of Python, and `tile > 0` fail with a text about
instances. Two tiles may be compared: `a == b` asks whether they are the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.support.errors import LanguageError

_LOOP = "loop over its elements with T.Parallel"


def refuse_operator(sign: str) -> LanguageError:
    """The error for an operator that has a whole tile as its operand."""
    return LanguageError(f"'{sign}' of a whole tile", hint=_LOOP)


def _ordering(sign: str) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        raise refuse_operator(sign)

    return compare


def install(tile: type, scalars: tuple[type, ...]) -> None:
    """Makes the class of tiles refuse comparisons with values, and all refuse formats."""

    def equals(self: Any, other: Any) -> Any:
        if isinstance(other, (int, float, *scalars)):
            raise refuse_operator("==")
        return self is other

    def differs(self: Any, other: Any) -> Any:
        if isinstance(other, (int, float, *scalars)):
            raise refuse_operator("!=")
        return self is not other

    def format_value(self: Any, specification: str) -> str:
        if specification:
            raise LanguageError(
                f"a run-time value has no text in the format '{specification}' while the kernel "
                "is compiled",
                hint="use T.print to print it when the kernel runs",
            )
        return str(self)

    tile.__eq__, tile.__ne__ = equals, differs  # type: ignore[assignment,method-assign]
    for name, sign in (("__lt__", "<"), ("__le__", "<="), ("__gt__", ">"), ("__ge__", ">=")):
        setattr(tile, name, _ordering(sign))
    for cls in (tile, *scalars):
        cls.__format__ = format_value  # type: ignore[method-assign,assignment]
