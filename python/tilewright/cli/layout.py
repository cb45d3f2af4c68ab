"""`tw layout`: a layout as a table of offsets."""

from __future__ import annotations

import re
import sys

from tilewright.errors import LanguageError, TilewrightError, reporting

_FORM = re.compile(r"^\s*\(([^)]*)\)\s*->\s*\((.*)\)\s*$")
_LARGEST = 4096


def show_layout(expression: str, shape: list[int]) -> int:
    """Prints where each element of `shape` sits; the exit status."""
    try:
        _show(expression, shape)
    except TilewrightError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@reporting
def _show(expression: str, shape: list[int]) -> None:
    from tilewright.layout import Layout

    found = _FORM.match(expression)
    if found is None:
        raise LanguageError(f"expected '(i, j) -> (…, …)', got '{expression}'")
    if not all(extent > 0 for extent in shape):
        raise LanguageError(f"extents must be positive, got {' '.join(map(str, shape))}")
    names = [name.strip() for name in found.group(1).split(",") if name.strip()]
    if len(names) != len(shape) or not all(name.isidentifier() for name in names):
        raise LanguageError(f"{len(names)} index names for a shape of {len(shape)} extents")
    try:
        function = eval(f"lambda {', '.join(names)}: [{found.group(2)}]", {"__builtins__": {}})
        layout = Layout(shape, function)
    except TilewrightError:
        raise
    except Exception as error:  # whatever the expression does
        raise LanguageError(f"'{found.group(2)}': {error}") from None
    answer, why = layout.core.is_injective()
    print(f"{layout.core}")
    print(f"physical shape {' x '.join(map(str, layout.get_output_shape()))}; injective: {answer}")
    if why:
        print(f"  {why}")
    _print_offsets(layout, shape)


def _print_offsets(layout: object, shape: list[int]) -> None:
    from itertools import product

    extents = layout.get_output_shape()
    count = 1
    for extent in shape:
        count *= extent
    if count > _LARGEST:
        print(f"({count} elements: too many for a table)")
        return
    offsets = []
    for index in product(*(range(extent) for extent in shape)):
        offset = 0
        for position, extent in zip(layout.map_forward_index(index), extents, strict=True):
            offset = offset * extent + position
        offsets.append(offset)
    width = len(str(max(offsets, default=0)))
    row = shape[-1]
    for start in range(0, len(offsets), row):
        print(" ".join(str(offset).rjust(width) for offset in offsets[start : start + row]))
