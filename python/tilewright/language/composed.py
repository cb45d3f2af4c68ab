"""Statements that are made of others: transposition, running maxima, questions about all elements.

Each is written down once, in terms of loops and reductions that every engine has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tilewright.frontend.tile_loops import ParallelLoop, SerialLoop, TileLoop
from tilewright.frontend.trace import Element, TraceState, describe, dtype_of
from tilewright.language import scalars
from tilewright.language.kernel import _in_kernel
from tilewright.language.tiles import dimension, require_tile
from tilewright.support.errors import LanguageError


@contextmanager
def _opened(state: TraceState, loop: TileLoop) -> Iterator[Any]:
    """A loop around what follows; gives its variables."""
    yield loop.open(state, line=0)
    state.close(state.regions[-1])


@contextmanager
def _parallel(state: TraceState, extents: list[int]) -> Iterator[tuple[Any, ...]]:
    """A loop over independent iterations; gives its variables, always as a tuple."""
    with _opened(state, ParallelLoop(tuple(extents), None, None)) as variables:
        yield variables if isinstance(variables, tuple) else (variables,)


def _extents(tile: Any, what: str, role: str) -> list[int]:
    require_tile(tile, what, role)
    if not all(isinstance(extent, int) for extent in tile.shape):
        raise LanguageError(f"'{what}': {role} must have a constant shape, got {describe(tile)}")
    return list(tile.shape)


def transpose(src: Any, dst: Any, annotations: dict[str, Any] | None = None) -> None:
    """`dst[..., j, i] = src[..., i, j]`.

    Example:
        T.transpose(s, B)
    """
    state = _in_kernel("T.transpose")
    from_extents = _extents(src, "T.transpose", "the source")
    to_extents = _extents(dst, "T.transpose", "the destination")
    *rows, m, n = from_extents if len(from_extents) > 1 else [0, *from_extents]
    if [*rows, n, m] != to_extents:
        raise LanguageError(
            f"'T.transpose' from {' x '.join(map(str, from_extents))} to "
            f"{' x '.join(map(str, to_extents))}: the last two extents must change places"
        )
    with _parallel(state, from_extents) as (*outer, i, j):
        dst[(*outer, j, i)] = src[(*outer, i, j)].load()


def cummax(
    src: Any,
    dst: Any = None,
    dim: int = 0,
    reverse: bool = False,
    annotations: dict[str, Any] | None = None,
) -> None:
    """Running maxima along `dim`, into `dst` or in place; `reverse` runs from the end. Rows are
    independent, the elements of a row follow one another.

    Example:
        T.cummax(s, dim=1)
        T.copy(s, B)
    """
    state = _in_kernel("T.cummax")
    dst = src if dst is None else dst
    extents = _extents(src, "T.cummax", "the source")
    if _extents(dst, "T.cummax", "the destination") != extents:
        raise LanguageError("'T.cummax': source and destination must have the same shape")
    dim = dimension("T.cummax", src, dim)
    # Maxima of the source's dtype: converted ones would be others where integers wrap.
    tile = state.core.alloc("running", extents, dtype_of(src[(0,) * len(extents)]), "shared")
    state.core.copy(src, tile, {})
    last = extents[dim] - 1
    with _parallel(state, [*extents[:dim], 1, *extents[dim + 1 :]]) as index:
        with _opened(state, SerialLoop("T.cummax", 1, extents[dim])) as step:
            here, before = (last - step, last - step + 1) if reverse else (step, step - 1)
            element, other = (tile[(*index[:dim], at, *index[dim + 1 :])] for at in (here, before))
            element.store(scalars.max(element.load(), other.load()))
    state.core.copy(tile, dst, {})


def _combined(what: str, buffer: Any, kind: str) -> Any:
    """The elements of a tile or region as zeros and ones, combined by `kind`."""
    state = _in_kernel(what)
    extents = _extents(buffer, what, "the argument")
    truths = state.core.alloc("truths", extents, "bool", "shared")
    state.core.copy(buffer, truths, {})  # a number becomes a bool by x != 0
    tile = state.core.alloc("numbers", extents, "int32", "fragment")
    state.core.copy(truths, tile, {})
    while extents:
        extents = extents[:-1]
        result = state.core.alloc("combined", extents or [1], "int32", "fragment")
        state.core.reduce(kind, tile, result, len(extents), True, False)
        tile = result
    return tile[0].load() != 0


def any_of(buffer: Any) -> Any:
    """Whether some element of a tile or region is not zero.

    Example:
        if T.any_of(s):
            T.copy(s, B)
    """
    return _combined("T.any_of", buffer, "max")


def all_of(buffer: Any) -> Any:
    """Whether no element of a tile or region is zero.

    Example:
        if T.all_of(s):
            T.copy(s, B)
    """
    return _combined("T.all_of", buffer, "min")


def dp4a(A: Any, B: Any, C: Any) -> None:
    """Adds the products of four `int8` each, from `A` and `B` on in a row, to the `int32` at `C`.

    Each is a tile, whose first elements count, or the address of an element.

    Example:
        a = T.alloc_local((4,), "int8")
        c = T.alloc_local((1,), "int32")
        for k in T.serial(4):
            a[k] = 1
        c[0] = 0
        T.dp4a(a[0], a[0], c[0])
        if tx < 64:
            M[0, tx] = c[0]  # 4
    """
    _in_kernel("T.dp4a")
    elements = []
    for value, role, wanted in ((A, "A", "int8"), (B, "B", "int8"), (C, "C", "int32")):
        require_tile(value, "T.dp4a", role, element=True)
        element = value if type(value) is Element else value[(0,) * value.ndim]
        if dtype_of(element) != wanted:
            raise LanguageError(f"'T.dp4a': {role} must be {wanted}, got {dtype_of(element)}")
        elements.append(element)
    first, second, result = elements
    total = result.load()
    for k in range(4):
        a, b = (
            scalars.cast(
                element.buffer[(*element.indices[:-1], element.indices[-1] + k)].load(), "int32"
            )
            for element in (first, second)
        )
        total = total + a * b
    result.store(total)
