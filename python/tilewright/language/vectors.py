"""Packed values: `T.bfloat16x2`, `T.add2`, `T.Broadcast`, `T.ldg128`, `T.stg128`.

A packed value is some scalars side by side, which are computed one by one; a tile of packed values
has one dimension more. How many bits an instruction moves or adds is the compiler's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from tilewright.frontend.trace import Buffer, Element, describe, dtype_of, is_scalar
from tilewright.language import scalars
from tilewright.language.kernel import _in_kernel
from tilewright.language.more_math import constant
from tilewright.language.pointers import Pointer, access_ptr
from tilewright.language.rounding import fma
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical, dtype


class VectorType:
    """The type of packed values: `T.bfloat16x2(a, b)` packs two."""

    def __init__(self, element: str, lanes: int) -> None:
        self.element: dtype = canonical(element)
        self.lanes = lanes
        self.bits = self.element.bits * lanes
        self.bytes = self.bits // 8

    def __call__(self, *values: Any) -> Vector:
        if len(values) == 1 and isinstance(values[0], Vector):
            values = tuple(values[0])
        if len(values) == 1:
            values = values * self.lanes
        if len(values) != self.lanes or not all(is_scalar(value) for value in values):
            raise LanguageError(f"'T.{self}' packs {self.lanes} scalars, got {len(values)} values")
        return Vector([scalars.cast(value, self.element) for value in values])

    def __str__(self) -> str:
        return f"{self.element}x{self.lanes}"

    def __repr__(self) -> str:
        return f"T.{self}"


class Vector:
    """A packed value."""

    def __init__(self, elements: list[Any]) -> None:
        self._elements = elements

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def __getitem__(self, lane: int) -> Any:
        return self._elements[lane]

    @property
    def dtype(self) -> str:
        """The name of its type."""
        return f"{dtype_of(self._elements[0])}x{len(self)}"

    def tw_store(self, tile: Buffer, key: Any) -> None:
        """`tile[a:b] = value`: the lanes, one after another along the slice."""
        for index in key if isinstance(key, tuple) else (key,):
            if hasattr(index, "tw_scatter"):
                return index.tw_scatter(tile, key, self)
        region = tile[key]
        if type(region) is not Buffer or list(region.shape)[-1] != len(self):
            raise LanguageError(
                f"a packed value of {len(self)} lanes is stored into {describe(region)}",
                hint="store it into a slice of as many elements",
            )
        for lane, element in enumerate(self):
            region[(*(0,) * (region.ndim - 1), lane)].store(element)

    def _combine(self, other: Any, function: Callable[[Any, Any], Any]) -> Vector:
        others = list(other) if isinstance(other, Vector) else [other] * len(self)
        if len(others) != len(self):
            raise LanguageError(f"values of {len(self)} and {len(others)} lanes are combined")
        return Vector([function(a, b) for a, b in zip(self, others, strict=True)])

    def __add__(self, other: Any) -> Vector:
        return self._combine(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Vector:
        return self._combine(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Vector:
        return self._combine(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Vector:
        return self._combine(other, lambda a, b: a / b)

    __radd__, __rmul__ = __add__, __mul__


class PackedTile:
    """A tile of packed values: a tile whose last dimension are the lanes."""

    def __init__(self, tile: Buffer, kind: VectorType) -> None:
        self.tile, self.dtype = tile, kind
        self.shape = tile.shape[:-1]

    def _lane(self, index: Any, lane: int) -> Element:
        return self.tile[(*(index if isinstance(index, tuple) else (index,)), lane)]

    def __getitem__(self, index: Any) -> Vector:
        return Vector([self._lane(index, lane).load() for lane in range(self.dtype.lanes)])

    def __setitem__(self, index: Any, value: Any) -> None:
        for lane, element in enumerate(self.dtype(value)):
            self._lane(index, lane).store(element)

    def view_as(self, shape: Any, dtype: Any) -> Any:
        """`T.view` as a tile of its lanes."""
        from tilewright.language.tiles import view
        from tilewright.types.tensor_type import check_shape

        element = self.dtype.element if dtype is None else canonical(dtype)
        extents = self.tile.shape if shape is None else check_shape(shape, "T.view")
        if self.tile.scope_name != "local" or element != self.dtype.element:
            return view(self.tile, extents, element)
        if prod(extents) != prod(self.tile.shape):
            raise LanguageError(
                f"T.view: {prod(extents)} elements of a tile of {prod(self.tile.shape)}"
            )
        return Lanes(self.tile, tuple(extents))


class Lanes:
    """The elements of a thread's tile under another shape."""

    def __init__(self, tile: Buffer, shape: tuple[int, ...]) -> None:
        self.tile, self.shape = tile, shape

    def _place(self, index: Any) -> Element:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.shape):
            raise LanguageError(f"{len(indices)} indices for {len(self.shape)} dimensions")
        number: Any = 0
        for index, extent in zip(indices, self.shape, strict=True):
            number = number * extent + index
        index = []
        for extent in reversed(self.tile.shape):
            index.append(number % extent)
            number = number // extent
        return self.tile[tuple(reversed(index))]

    def __getitem__(self, index: Any) -> Element:
        return self._place(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._place(index).store(value)


VECTOR_TYPES = {
    str(kind): kind
    for kind in (
        VectorType(element, lanes)
        for element in ("float16", "bfloat16", "float32", "float64", "int32", "uint32", "int8")
        for lanes in (2, 4, 8, 16)
    )
}


def Broadcast(value: Any, lanes: int) -> Vector:
    """A packed value with the same scalar in all lanes.

    Example:
        x = T.Broadcast(A[i, j], 2)
        B[i, j] = x[1]
    """
    if isinstance(lanes, bool) or not isinstance(lanes, int) or lanes < 1 or not is_scalar(value):
        raise LanguageError(f"'T.Broadcast' takes a scalar and a number of lanes, got {lanes!r}")
    return Vector([value] * lanes)


def reinterpret(value: Any, dtype: Any) -> Any:
    """The bits of `value` as a `dtype` of the same width; lanes are in the order of memory.

    Example:
        M[i, j] = T.reinterpret(A[i, j], "int32")
    """
    if isinstance(value, VectorType):
        value, dtype = dtype, value
    if isinstance(dtype, str):
        dtype = VECTOR_TYPES.get(dtype, dtype)
    is_packed = isinstance(dtype, VectorType)
    if not is_packed and not isinstance(value, Vector):
        return scalars.reinterpret(value, dtype)
    values = list(value) if isinstance(value, Vector) else [value]
    parts = regroup(values, str(dtype.element if is_packed else canonical(dtype)))
    if len(parts) != (dtype.lanes if is_packed else 1):
        raise LanguageError(f"'T.reinterpret' as {dtype}: the value has another number of bits")
    return Vector(parts) if is_packed else parts[0]


# ---- Arithmetic of two lanes ----


def _two(what: str, function: Callable[..., Any], *operands: Any) -> Vector:
    for operand in operands:
        if not isinstance(operand, Vector) or len(operand) != 2:
            raise LanguageError(
                f"'{what}' needs packed values of two lanes (T.bfloat16x2, T.float16x2, "
                f"T.float32x2), got {describe(operand)}"
            )
    kinds = {operand.dtype for operand in operands}
    if len(kinds) > 1:
        raise LanguageError(f"'{what}' of different types: {', '.join(sorted(kinds))}")
    element = dtype_of(operands[0][0])
    lanes = zip(*operands, strict=True)
    return Vector([scalars.cast(function(*lane), element) for lane in lanes])


def add2(x: Any, y: Any) -> Vector:
    """x + y, lane by lane.

    Example:
        x = T.add2(T.Broadcast(A[i, j], 2), T.Broadcast(2.0, 2))
        B[i, j] = x[0]
    """
    return _two("T.add2", lambda a, b: a + b, x, y)


def sub2(x: Any, y: Any) -> Vector:
    """x - y, lane by lane.

    Example:
        x = T.sub2(T.Broadcast(A[i, j], 2), T.Broadcast(2.0, 2))
        B[i, j] = x[0]
    """
    return _two("T.sub2", lambda a, b: a - b, x, y)


def mul2(x: Any, y: Any) -> Vector:
    """x * y, lane by lane.

    Example:
        x = T.mul2(T.Broadcast(A[i, j], 2), T.Broadcast(2.0, 2))
        B[i, j] = x[0]
    """
    return _two("T.mul2", lambda a, b: a * b, x, y)


def fma2(x: Any, y: Any, z: Any) -> Vector:
    """x * y + z rounded once, lane by lane.

    Example:
        x = T.fma2(T.Broadcast(A[i, j], 2), T.Broadcast(2.0, 2), T.Broadcast(1.0, 2))
        B[i, j] = x[0]
    """
    return _two("T.fma2", fma, x, y, z)


def max2(x: Any, y: Any) -> Vector:
    """The larger one, lane by lane.

    Example:
        x = T.max2(T.Broadcast(A[i, j], 2), T.Broadcast(2.0, 2))
        B[i, j] = x[0]
    """
    return _two("T.max2", scalars.max, x, y)


def min2(x: Any, y: Any) -> Vector:
    """The smaller one, lane by lane.

    Example:
        x = T.min2(T.Broadcast(A[i, j], 2), T.Broadcast(2.0, 2))
        B[i, j] = x[0]
    """
    return _two("T.min2", scalars.min, x, y)


def abs2(x: Any) -> Vector:
    """The magnitude, lane by lane.

    Example:
        x = T.abs2(T.Broadcast(A[i, j], 2))
        B[i, j] = x[0]
    """
    return _two("T.abs2", scalars.abs, x)


# ---- Bits of several elements ----


def regroup(values: list[Any], element: str) -> list[Any]:
    """The bits of `values`, in the order of memory, as scalars of another type."""
    target = canonical(element)
    given = canonical(dtype_of(values[0]))
    if given.bits * len(values) % target.bits:
        raise LanguageError(f"{len(values)} x {given} are no whole number of {target}")
    words = [scalars.reinterpret(value, f"uint{given.bits}") for value in values]
    kind = f"uint{target.bits}"
    if given.bits < target.bits:
        count = target.bits // given.bits
        joined = []
        for first in range(0, len(words), count):
            word = scalars.cast(words[first], kind)
            for position in range(1, count):
                part = scalars.cast(words[first + position], kind)
                word = word | (part << constant(position * given.bits, kind))
            joined.append(word)
        words = joined
    elif given.bits > target.bits:
        words = [
            scalars.cast(word >> constant(position, f"uint{given.bits}"), kind)
            for word in words
            for position in range(0, given.bits, target.bits)
        ]
    return [scalars.reinterpret(word, target) for word in words]


def _row(element: Any, bits: int, what: str) -> Pointer:
    """The elements of so many bits from `element` on, in its row."""
    _in_kernel(what)
    if type(element) is Buffer:
        element = element[(0,) * element.ndim]
    if type(element) is not Element:
        raise LanguageError(
            f"'{what}' needs an element, A[i, j], or a slice, got {describe(element)}"
        )
    width = canonical(dtype_of(element)).bits
    if bits % width:
        raise LanguageError(f"'{what}': {bits} bits are no whole number of {dtype_of(element)}")
    return access_ptr(element, "rw", bits // width)


def _with_example(text: str, example: str) -> str:
    return f"{text}\n\nExample:\n    if tx < 64:\n        {example}\n"


def _load(what: str, bits: int) -> Callable[..., Any]:
    def load(src: Any, pred: Any = None) -> Any:
        row = _row(src, bits, what)
        values = [row.element(number).load() for number in range(row.count)]
        words = regroup(values, "uint32")
        if pred is not None:
            words = [scalars.if_then_else(pred, w, constant(0, "uint32")) for w in words]
        return words[0] if bits == 32 else Vector(words)

    load.__doc__ = _with_example(
        f"The {bits} bits from an element on, as uint32; 0 where `pred` does not hold.",
        f"T.stg{bits}(B[tx, 0], {what}({'A' if 'ldg' in what else 's'}[tx, 0]))",
    )
    return load


def _store(what: str, bits: int) -> Callable[..., None]:
    def store(dst: Any, value: Any, pred: Any = None) -> None:
        row = _row(dst, bits, what)
        words = list(value) if isinstance(value, Vector) else [value]
        parts = regroup(words, dtype_of(row.first))
        if len(parts) != row.count:
            raise LanguageError(f"'{what}' stores {bits} bits, got {describe(value)}")
        state = _in_kernel(what)
        region = None
        if pred is not None:
            region = state.open("if")
            state.core.if_begin(pred)
        for number, part in enumerate(parts):
            row.element(number).store(part)
        if region is not None:
            state.close(region)

    store.__doc__ = _with_example(
        f"Writes {bits} bits from an element on, where `pred` holds.",
        f"{what}({'B' if 'stg' in what else 's'}[tx, 0], T.ldg{bits}(A[tx, 0]))",
    )
    return store


ldg32, ldg64 = _load("T.ldg32", 32), _load("T.ldg64", 64)
ldg128, ldg256 = _load("T.ldg128", 128), _load("T.ldg256", 256)
lds32, lds64, lds128 = _load("T.lds32", 32), _load("T.lds64", 64), _load("T.lds128", 128)
stg32, stg64 = _store("T.stg32", 32), _store("T.stg64", 64)
stg128, stg256 = _store("T.stg128", 128), _store("T.stg256", 256)
sts32, sts64, sts128 = _store("T.sts32", 32), _store("T.sts64", 64), _store("T.sts128", 128)
