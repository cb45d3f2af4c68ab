"""Numbers of four bits: `T.int4`, `T.uint4` and `T.float4_e2m1fn`.

A global tensor of them is packed, two in a byte, the first one in the low bits; the host passes
bytes (torch.int8, torch.uint8 or torch.float4_e2m1fn_x2), half as many in the last dimension. A
tile in a kernel has a byte for each number, in a type that holds every value exactly (its
*carrier*), and every store rounds: the engines need to know nothing of it. Two numbers of a byte
are written together, by `T.copy`, so that no two iterations write the same byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tilewright.frontend import trace
from tilewright.frontend.functions import add_declarer
from tilewright.frontend.loops import truth
from tilewright.frontend.trace import Buffer, Element, describe, is_kernel_value, is_scalar
from tilewright.language import scalars
from tilewright.language.more_math import constant, copysign
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import NARROW, canonical, narrow_name
from tilewright.types.tensor_type import TensorType

_PER_BYTE = 2


class Kind(NamedTuple):
    """How the numbers of a type are stored and computed with."""

    name: str
    carrier: str
    decode: Callable[[Any], Any]  # from four bits, a uint8, to the carrier
    encode: Callable[[Any], Any]  # and back
    rounded: Callable[[Any], Any]  # any scalar, to a value of the type in its carrier


def _bits(expression: Any) -> Any:
    """The result of integer arithmetic as a byte."""
    return scalars.cast(expression, "uint8")


def _select(condition: Any, yes: Any, no: Any) -> Any:
    return scalars.if_then_else(condition, yes, no)


# ---- float4_e2m1fn: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, in float8_e4m3fn ----


def _decode_e2m1(code: Any) -> Any:
    code = scalars.cast(code, "int32")
    exponent = (code >> 1) & 3
    normal = ((exponent + 6) << 3) | ((code & 1) << 2)
    tiny = _select((code & 1) != 0, constant(6 << 3, "int32"), constant(0, "int32"))  # 0.5 or 0
    magnitude = _select(exponent != 0, normal, tiny)
    return scalars.reinterpret(_bits(magnitude | ((code & 8) << 4)), "float8_e4m3fn")


def _encode_e2m1(value: Any) -> Any:
    bits = scalars.reinterpret(value, "uint8")
    exponent = scalars.cast((bits >> 3) & 15, "int32")
    normal = ((exponent - 6) << 1) | ((scalars.cast(bits, "int32") >> 2) & 1)
    tiny = _select(exponent == 6, constant(1, "int32"), constant(0, "int32"))
    magnitude = _select(exponent > 6, normal, tiny)
    return _bits(magnitude | ((scalars.cast(bits, "int32") >> 4) & 8))


def _round_e2m1(value: Any) -> Any:
    """To the nearest, ties to the even code; beyond 6, and for NaN, 6."""
    x = scalars.cast(value, "float32")
    size = scalars.abs(x)
    size = _select(size < 6.0, size, constant(6.0, "float32"))
    halves = scalars.nearbyint(size * 2.0) * 0.5
    twos = scalars.nearbyint(size * 0.5) * 2.0
    size = _select(size < 2.0, halves, _select(size < 4.0, scalars.nearbyint(size), twos))
    return scalars.cast(copysign(size, x), "float8_e4m3fn")


# ---- int4 and uint4, in int8 and uint8 ----


def _signed(value: Any) -> Any:
    """The low four bits of an integer, with their sign."""
    low = scalars.cast(value, "int32") & 15
    return scalars.cast(_select(low > 7, low - 16, low), "int8")


def _unsigned(value: Any) -> Any:
    return _bits(scalars.cast(value, "int32") & 15)


_KINDS = {
    "float4_e2m1fn": Kind(
        "float4_e2m1fn", "float8_e4m3fn", _decode_e2m1, _encode_e2m1, _round_e2m1
    ),
    "int4": Kind("int4", "int8", _signed, _unsigned, _signed),
    "uint4": Kind("uint4", "uint8", _unsigned, _unsigned, _unsigned),
}


def kind_of(dtype: Any) -> Kind | None:
    """How a type of four bits is stored; None for other types."""
    name = narrow_name(dtype)
    return None if name is None else _KINDS[name]


# ---- Tiles, tensors and elements ----


class Origin(NamedTuple):
    """An element that was named: as a scalar its value, in `T.copy` an address."""

    value: Any  # kept, so that its id stays its own
    owner: NarrowTile | NarrowTensor
    indices: tuple[Any, ...]


def _named(owner: NarrowTile | NarrowTensor, indices: tuple[Any, ...]) -> Any:
    """The value of an element. Where it stands is remembered: reads that nothing uses go away."""
    state = trace.require("an element")
    value = owner.load(indices)
    state.narrow_origins[id(value)] = Origin(value, owner, indices)
    return value


def _origin_of(value: Any) -> Origin | None:
    """Where a scalar was read, if it is an element of four bits that was named just so."""
    state = trace.active()
    return None if state is None else state.narrow_origins.get(id(value))


class NarrowTile:
    """A tile in a kernel: its carrier, and stores that round."""

    def __init__(self, tile: Buffer, kind: Kind) -> None:
        self.tile, self.kind = tile, kind

    shape = property(lambda self: self.tile.shape, doc="Its extents.")
    ndim = property(lambda self: self.tile.ndim, doc="How many they are.")
    name = property(lambda self: self.tile.name, doc="Its name.")
    dtype = property(lambda self: NARROW[self.kind.name], doc="The type of four bits.")
    scope = property(lambda self: self.tile.scope_name, doc="Where it lives.")

    def __getitem__(self, key: Any) -> Any:
        found = self.tile[key]
        if type(found) is Buffer:
            return NarrowTile(found, self.kind)
        return _named(self, key if isinstance(key, tuple) else (key,))

    def __setitem__(self, key: Any, value: Any) -> None:
        if not is_scalar(value):
            raise LanguageError(f"an element of '{self.name}' is a number, got {describe(value)}")
        self.tile[key] = self.kind.rounded(value)

    def load(self, indices: Sequence[Any]) -> Any:
        """The value of an element."""
        return self.tile[tuple(indices)].load()

    def view_as(self, shape: Any, dtype: Any) -> Any:
        """`T.view` with another shape."""
        if dtype is not None and narrow_name(dtype) != self.kind.name:
            raise LanguageError(
                f"T.view of '{self.name}', a tile of {self.kind.name}, as {dtype}: a tile of four "
                "bits has a byte for each number",
                hint="convert it with T.copy",
            )
        from tilewright.language.tiles import view

        return NarrowTile(view(self.tile, shape), self.kind)


class NarrowTensor:
    """A packed tensor in global memory, or a rectangular part of one."""

    def __init__(
        self,
        tile: Buffer,
        kind: Kind,
        shape: tuple[Any, ...],
        part: list[tuple[Any, Any]] | None = None,
    ) -> None:
        self.tile, self.kind = tile, kind
        self.full = shape
        # Of each dimension: where the part begins, and its extent (None: one index).
        self.part = [(0, extent) for extent in shape] if part is None else part

    name = property(lambda self: self.tile.name, doc="Its name.")
    dtype = property(lambda self: NARROW[self.kind.name], doc="The type of four bits.")
    scope = property(lambda self: "global", doc="Where it lives.")

    @property
    def shape(self) -> tuple[Any, ...]:
        """Its extents."""
        return tuple(extent for _, extent in self.part if extent is not None)

    @property
    def ndim(self) -> int:
        """How many they are."""
        return len(self.shape)

    def __getitem__(self, key: Any) -> Any:
        keys = list(key) if isinstance(key, tuple) else [key]
        free = [n for n, (_, extent) in enumerate(self.part) if extent is not None]
        if len(keys) > len(free):
            raise LanguageError(f"{len(keys)} indices for the {len(free)} of '{self.name}'")
        part = list(self.part)
        for number, index in zip(free, keys, strict=False):
            first, extent = part[number]
            part[number] = self._indexed(number, first, extent, index)
        found = NarrowTensor(self.tile, self.kind, self.full, part)
        if all(extent is None for _, extent in part):
            return _named(found, ())
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        raise LanguageError(
            f"'{self.name}' has two numbers of {self.kind.name} in a byte, and one of them cannot "
            "be written alone",
            hint="store into a tile (T.alloc_shared) and T.copy it",
        )

    def _indexed(self, dim: int, first: Any, extent: Any, index: Any) -> tuple[Any, Any]:
        """Where a part begins in a dimension after indexing, and its extent."""
        if not isinstance(index, slice):
            return first + index, None
        start = 0 if index.start is None else index.start
        stop = extent if index.stop is None else index.stop
        if index.step not in (None, 1):
            raise LanguageError(f"a part of '{self.name}' has no steps")
        if isinstance(start, int) and isinstance(stop, int):
            return first + start, stop - start
        key = [slice(0, 1)] * self.tile.ndim
        key[dim] = slice(start, stop)  # the extent is worked out as for any other tensor
        return first + start, self.tile[tuple(key)].shape[dim]

    def coordinates(self, indices: Sequence[Any]) -> list[Any]:
        """The indices in the whole tensor of an element of this part."""
        given = iter(indices)
        return [first if extent is None else first + next(given) for first, extent in self.part]

    def load(self, indices: Sequence[Any]) -> Any:
        """The value of an element."""
        *outer, last = self.coordinates(indices)
        byte = self.tile[(*outer, last // _PER_BYTE)].load()
        shift = scalars.cast(last % _PER_BYTE * 4, "int32")
        code = _bits((scalars.cast(byte, "int32") >> shift) & 15)
        return self.kind.decode(code)

    def store_pair(self, indices: Sequence[Any], low: Any, high: Any) -> None:
        """Writes two neighbours, from an even place on."""
        *outer, last = self.coordinates(indices)
        codes = [scalars.cast(self.kind.encode(value), "int32") for value in (low, high)]
        byte = scalars.cast(codes[0] | (codes[1] << 4), "uint8")
        self.tile[(*outer, last // _PER_BYTE)] = byte

    def view_as(self, shape: Any, dtype: Any) -> Any:
        """`T.view` as bytes."""
        from tilewright.language.tiles import view

        if narrow_name(dtype) is not None or dtype is None or canonical(dtype).bits != 8:
            raise LanguageError(f"T.view of '{self.name}' is possible as bytes only")
        return view(self.tile, self.tile.shape if shape is None else shape, dtype)


# ---- Statements ----


def declare(
    state: trace.TraceState, name: str, shape: tuple[Any, ...], dtype: Any, strides: Sequence[Any]
) -> NarrowTensor:
    """A parameter of a kernel."""
    kind = kind_of(dtype)
    assert kind is not None
    state.parameter_notes[name] = {"narrow": kind.name}
    halves = [list(s) for s in ([*_halved(strides[:-1], name), 1],) if strides]
    packed = [*shape[:-1], *_halved(shape[-1:], name)]
    return NarrowTensor(state.core.param_tensor(name, packed, "uint8", *halves), kind, shape)


def _declare_parameter(state: trace.TraceState, name: str, annotation: Any) -> Any:
    if not isinstance(annotation, TensorType) or narrow_name(annotation.dtype) is None:
        return None
    own = getattr(annotation, "strides", ())
    return declare(state, name, annotation.shape, annotation.dtype, own)


add_declarer(_declare_parameter)


def _halved(extents: Sequence[Any], name: str) -> list[Any]:
    for extent in extents:
        if isinstance(extent, int) and extent % _PER_BYTE:
            raise LanguageError(f"'{name}': the extent {extent} is odd; a byte has two numbers")
    return [extent // _PER_BYTE for extent in extents]


def alloc(make: Callable[[Any, str], Buffer], shape: Any, dtype: Any) -> NarrowTile:
    """A tile; `make` allocates one of this shape and carrier."""
    kind = kind_of(dtype)
    assert kind is not None
    return NarrowTile(make(shape, kind.carrier), kind)


def is_narrow(value: Any) -> bool:
    """Whether a value is a tile or tensor of four bits, or an element of one."""
    return type(value) in (NarrowTile, NarrowTensor) or _origin_of(value) is not None


def carrier(value: Any, what: str) -> Any:
    """A tile as its carrier, for a statement that reads it."""
    if type(value) is NarrowTile:
        return value.tile
    if type(value) is NarrowTensor:
        raise LanguageError(
            f"'{what}' of a packed tensor of {value.dtype}", hint="T.copy it into a tile first"
        )
    return value


class _Side:
    """One side of a copy: how an element of it is read and written."""

    def __init__(self, value: Any) -> None:
        self.base: tuple[Any, ...] = ()
        self.shape: tuple[Any, ...] | None = None
        if type(value) is Element:
            self.owner, self.base = value.buffer, tuple(value.indices)
        elif (origin := _origin_of(value)) is not None and type(origin.owner) is NarrowTile:
            self.owner, self.base = origin.owner, origin.indices
        elif origin is not None:
            self.owner = NarrowTensor(origin.owner.tile, origin.owner.kind, origin.owner.full)
            self.base = tuple(first for first, _ in origin.owner.part)
        else:
            self.owner, self.shape = value, tuple(value.shape)

    def indices(self, index: Sequence[Any]) -> list[Any]:
        """The indices on this side of an element of the copy: dimensions count from the last."""
        rank = len(self.base) if self.base else self.owner.ndim
        found = [0] * max(0, rank - len(index)) + list(index)[max(0, len(index) - rank) :]
        return [a + b for a, b in zip(self.base, found, strict=True)] if self.base else found

    def load(self, index: Sequence[Any]) -> Any:
        indices = tuple(self.indices(index))
        if type(self.owner) is Buffer:
            return self.owner[indices].load()
        return self.owner.load(indices)


def copy(state: trace.TraceState, src: Any, dst: Any) -> None:
    """`T.copy` where a side has numbers of four bits."""
    from tilewright.language.composed import _parallel

    from_side, to_side = _Side(src), _Side(dst)
    if from_side.shape is None and to_side.shape is None:
        extents: list[Any] = [1]
    else:
        shapes = [s.shape for s in (to_side, from_side) if s.shape is not None]
        extents = _extents(min(shapes, key=lambda shape: sum(e != 1 for e in shape)), shapes)
    owner = to_side.owner
    if type(owner) is not NarrowTensor:
        with _parallel(state, extents) as index:
            owner[tuple(to_side.indices(index))] = from_side.load(index)
        return
    if extents[-1] % _PER_BYTE:
        raise LanguageError(f"'T.copy' of {extents[-1]} numbers of {owner.dtype}: an even count")
    start = to_side.base[-1] if to_side.base else owner.part[-1][0]
    _require_even(state, start, owner)
    with _parallel(state, [*extents[:-1], extents[-1] // _PER_BYTE]) as (*outer, pair):
        pair = pair * _PER_BYTE
        values = [owner.kind.rounded(from_side.load([*outer, pair + n])) for n in range(_PER_BYTE)]
        owner.store_pair(to_side.indices([*outer, pair]), *values)


def _extents(shape: tuple[Any, ...], shapes: list[tuple[Any, ...]]) -> list[Any]:
    """The extents of a copy; all sides have the same, but for dimensions of 1 in front."""
    trimmed = set()
    for own in shapes:
        kept = list(own)
        while len(kept) > 1 and kept[0] == 1:
            kept.pop(0)
        trimmed.add(tuple(kept))
    if len(trimmed) != 1 or not all(isinstance(extent, int) for extent in shape):
        sizes = " and ".join(" x ".join(map(str, own)) for own in shapes)
        raise LanguageError(f"'T.copy' between {sizes}: the constant extents of both must be equal")
    return list(next(iter(trimmed)))


def _require_even(state: trace.TraceState, start: Any, owner: NarrowTensor) -> None:
    """A pair begins at an even place; what is not known now is checked when the kernel runs."""
    message = f"'T.copy' to '{owner.name}' begins in the middle of a byte"
    if is_kernel_value(start):
        state.core.assert_(truth(state, start % _PER_BYTE == 0), message)
    elif start % _PER_BYTE:
        raise LanguageError(message)
