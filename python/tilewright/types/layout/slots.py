"""The slots of a fragment for which only the threads are given (`forward_thread_fn` alone).

Each index is split into digits (prime factors of its extent, lowest first). A digit that never
changes the thread counts the elements that a thread holds; together, row by row, they are the slot.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from tilewright.support.errors import LanguageError

_MOST_POINTS = 1 << 20


class _Digit(NamedTuple):
    """`index[dim] // below % base`."""

    dim: int
    below: int
    base: int


def _digits(extents: tuple[int, ...]) -> list[_Digit]:
    """All digits of an index, the slowest first."""
    found = []
    for dim, extent in enumerate(extents):
        below, rest, own = 1, extent, []
        factor = 2
        while rest > 1:
            if rest % factor:
                factor += 1
                continue
            own.append(_Digit(dim, below, factor))
            below, rest = below * factor, rest // factor
        found += reversed(own)
    return found


def infer_slot(
    extents: tuple[int, ...], thread_of: Callable[..., Any], replicate: int
) -> Callable[..., Any]:
    """The slot as a function of the indices; refuses what digits cannot tell apart."""
    copies: list[tuple[int, ...]] = [(n,) for n in range(replicate)] if replicate > 1 else [()]
    points = 1
    for extent in extents:
        points *= extent
    if points * replicate > _MOST_POINTS:
        raise LanguageError(
            "T.Fragment: the tile is too large to infer slots", hint="give forward_index_fn"
        )
    threads = {
        index: tuple(thread_of(*index, *copy) for copy in copies)
        for index in product(*map(range, extents))
    }

    def is_free(digit: _Digit) -> bool:
        for index, owners in threads.items():
            if index[digit.dim] // digit.below % digit.base:
                value = index[digit.dim] // digit.below % digit.base
                low = list(index)
                low[digit.dim] -= value * digit.below
                if threads[tuple(low)] != owners:
                    return False
        return True

    free = [digit for digit in _digits(extents) if is_free(digit)]

    def slot(*index: Any) -> Any:
        number: Any = 0
        for dim, below, base in free:
            position = index[dim]
            digit = position if base == extents[dim] else position // below % base
            number = number * base + digit
        return number

    seen = {(owners, slot(*index)) for index, owners in threads.items()}
    if len(seen) != points:
        raise LanguageError(
            "T.Fragment: which slots the elements of a thread have cannot be inferred from "
            "forward_thread_fn",
            hint="give forward_index_fn too",
        )
    return slot
