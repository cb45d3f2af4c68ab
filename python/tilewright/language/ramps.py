"""`T.Ramp`: an index that names several elements, a step apart.

`A[T.Ramp(first, step, lanes)]` is a packed value (vectors.py) of these elements. As in TileLang, a
lane that is negative counts from the end of its dimension, also if it is known only at run time.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.trace import Buffer, Element, describe, is_scalar
from tilewright.language import scalars
from tilewright.language.vectors import Vector
from tilewright.support.errors import LanguageError


class Gathered(Vector):
    """The packed value that a ramp reads; it knows its elements, which atomics can update."""

    def __init__(self, places: list[Element]) -> None:
        super().__init__([place.load() for place in places])
        self.places = places


class Ramp:
    """The indices `base`, `base + stride`, …, as many as there are `lanes`.

    Example:
        if tx < 32:
            pair = T.Ramp(tx * 2, 1, 2)
            B[0, pair] = A[0, pair]
    """

    def __init__(self, base: Any, stride: Any, lanes: int) -> None:
        if isinstance(lanes, bool) or not isinstance(lanes, int) or lanes < 1:
            raise LanguageError(f"'T.Ramp' has a number of lanes, got {describe(lanes)}")
        if not is_scalar(base) or not is_scalar(stride):
            raise LanguageError("'T.Ramp' takes scalars: where it starts, and its step")
        self.base = base.load() if type(base) is Element else base
        self.stride, self.lanes = stride, lanes

    def __len__(self) -> int:
        return self.lanes

    def lane(self, number: int, extent: Any) -> Any:
        """An index of the ramp, in a dimension of this extent."""
        index = self.base + self.stride * number
        if isinstance(index, int):
            return index  # negative ones count from the end by themselves
        return scalars.if_then_else(index < 0, index + extent, index)

    def tw_gather(self, tile: Buffer, key: Any) -> Gathered:
        """`tile[key]`, where the ramp is an index."""
        return Gathered(self._places(tile, key))

    def tw_scatter(self, tile: Buffer, key: Any, value: Any) -> None:
        """`tile[key] = value`: lane by lane, or the same scalar in all lanes."""
        values = list(value) if isinstance(value, Vector) else [value] * self.lanes
        if len(values) != self.lanes:
            raise LanguageError(
                f"a packed value of {len(values)} lanes is stored by a 'T.Ramp' of {self.lanes}"
            )
        for place, item in zip(self._places(tile, key), values, strict=True):
            place.store(item)

    def _places(self, tile: Buffer, key: Any) -> list[Element]:
        indices = list(key) if isinstance(key, tuple) else [key]
        ramps = [number for number, index in enumerate(indices) if isinstance(index, Ramp)]
        if len(ramps) != 1 or len(indices) != tile.ndim:
            raise LanguageError(
                "a 'T.Ramp' is one of the indices of an element, and the only ramp among them"
            )
        at = ramps[0]
        places = []
        for number in range(self.lanes):
            indices[at] = self.lane(number, tile.shape[at])
            place = tile[tuple(indices)]
            if type(place) is not Element:
                raise LanguageError("'T.Ramp' beside a slice; give each dimension an index")
            places.append(place)
        return places


def places_of(what: str, region: Any, count: int) -> list[Element]:
    """The elements of a region of one row, of a ramp, or of a run that starts at an element."""
    if isinstance(region, Gathered):
        places = region.places
    elif type(region) is Element:
        region = region.run(count)
        places = [region[(*(0,) * (region.ndim - 1), lane)] for lane in range(count)]
    elif type(region) is Buffer and list(region.shape)[-1] == count:
        places = [region[(*(0,) * (region.ndim - 1), lane)] for lane in range(count)]
    else:
        places = []
    if len(places) != count:
        raise LanguageError(f"'{what}' takes {count} neighbouring elements, got {describe(region)}")
    return places
