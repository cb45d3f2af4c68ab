"""`tw layout`: a layout as a table, and whether it is one."""

from __future__ import annotations

import re
import sys
from typing import Any

from tilewright.support.colour import paint
from tilewright.support.errors import LanguageError, TilewrightError, reporting

_SYMBOLS = re.compile(r"^\s*\([^)]*\)\s*\[([^\]]*)\]")
_LARGEST = 4096


def show_layout(expression: str, arguments: list[str]) -> int:
    """Prints where each element sits; the exit status: 1 if two share an address."""
    try:
        return _show(expression, arguments)
    except TilewrightError as error:
        text = f"{error.kind}: {error.message}"  # there is no file to point at
        print(paint(text, sys.stderr), file=sys.stderr)
        return 1


@reporting
def _show(expression: str, arguments: list[str]) -> int:
    from tilewright._core import core

    shape, symbols = _read_arguments(arguments)
    layout = core.parse_layout(_fill_in(expression, symbols), shape)
    answer, why = layout.is_injective()
    print(f"{layout}")
    if isinstance(layout, core.Fragment):
        held = f"{layout.threads} threads with {layout.slots} slots"
        copies = f", {layout.replicate} replicas" if layout.replicate > 1 else ""
        print(f"{held}{copies}; injective: {answer}")
    else:
        extents = " x ".join(map(str, layout.output_shape))
        print(f"physical shape {extents}; injective: {answer}")
    if why:
        print(f"  {why}")
    _print_table(layout, shape, isinstance(layout, core.Fragment))
    return 0 if answer == "yes" else 1


def _read_arguments(arguments: list[str]) -> tuple[list[int], dict[str, int]]:
    """The extents, and the values of symbols."""
    shape: list[int] = []
    symbols: dict[str, int] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        text = value if equals else argument
        if not re.fullmatch(r"-?\d+", text) or (equals and not name.isidentifier()):
            raise LanguageError(f"'{argument}' is neither an extent nor a symbol's value as n=8")
        if equals:
            symbols[name] = int(value)
        else:
            shape.append(int(argument))
    if not shape:
        raise LanguageError("no extents; name one for each index, as in: 8 8")
    if not all(extent > 0 for extent in shape):
        raise LanguageError(f"extents must be positive, got {' '.join(map(str, shape))}")
    return shape, symbols


def _fill_in(expression: str, symbols: dict[str, int]) -> str:
    """The text with the values of its symbols."""
    found = _SYMBOLS.match(expression)
    names = [name.strip() for name in found.group(1).split(",")] if found else []
    for name in symbols:
        if name not in names:
            raise LanguageError(f"the layout has no symbol '{name}'")
    for name in names:
        if name not in symbols:
            raise LanguageError(f"the symbol '{name}' has no value", hint=f"add {name}=8")
    if not found:
        return expression
    text = expression[: found.start(1) - 1] + expression[found.end(1) + 1 :]
    head, arrow, rest = text.partition("->")
    for name, value in symbols.items():
        rest = re.sub(rf"\b{name}\b", str(value) if value >= 0 else f"({value})", rest)
    return head + arrow + rest


def _print_table(layout: Any, shape: list[int], is_fragment: bool) -> None:
    from itertools import product

    count = 1
    for extent in shape:
        count *= extent
    if count > _LARGEST:
        print(f"({count} elements: too many for a table)")
        return
    if is_fragment:
        print(layout.text())
        return
    extents = layout.output_shape
    offsets = []
    for index in product(*(range(extent) for extent in shape)):
        offset = 0
        for position, extent in zip(layout.map(list(index)), extents, strict=True):
            offset = offset * extent + position
        offsets.append(offset)
    width = len(str(max(offsets, default=0)))
    row = shape[-1]
    for start in range(0, len(offsets), row):
        print(" ".join(str(offset).rjust(width) for offset in offsets[start : start + row]))
