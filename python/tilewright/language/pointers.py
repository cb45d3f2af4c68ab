"""Pointers to elements in a row: `T.access_ptr`, `T.tvm_access_ptr`, `T.address_of`.

A pointer names elements of one buffer; nothing else can be done with it than to hand it to a
statement that takes pointers.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from tilewright.frontend.trace import Buffer, Element, describe, is_scalar
from tilewright.language.tensor import Storage
from tilewright.language.tiles import view
from tilewright.support.errors import LanguageError
from tilewright.types.dtypes import canonical, is_dtype


class Pointer(NamedTuple):
    """Some elements in a row, from one on."""

    first: Element
    count: int

    def element(self, number: int) -> Element:
        """One of them, in the row of the first."""
        *outer, last = self.first.indices
        return self.first.buffer[(*outer, last + number)]


def _count(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise LanguageError(f"'{what}': the extent is a positive integer, got {value!r}")
    return value


def access_ptr(
    base: Any, access_type: str = "rw", extent: int = 1, *more: Any, **options: Any
) -> Pointer:
    """The `extent` elements from `base` (an element, `A[i, j]`) on, for a statement that takes
    pointers. Who reads and writes is known without `access_type`.

    Example:
        x = T.alloc_shared((128, 4), "float32")
        T.ptx_cp_async(T.access_ptr(x[tx, 0], "w", 4), T.access_ptr(A[tx % 64, 0], "r", 4), 4)
        T.ptx_wait_group(0)
        T.copy(x[0:64, :], B[:, 0:4])
    """
    if type(base) is Buffer:
        base = base[(0,) * base.ndim]
    if type(base) is not Element:
        raise LanguageError(f"'T.access_ptr': expected an element, A[i, j], got {describe(base)}")
    if more or options:
        raise LanguageError("'T.access_ptr': a pointer is to elements in one row")
    return Pointer(base, _count(extent, "T.access_ptr"))


def address_of(base: Any) -> Pointer:
    """A pointer to one element."""
    return access_ptr(base)


def type_annotation(dtype: Any) -> Any:
    """The type of a pointer's elements, for `T.tvm_access_ptr`."""
    return canonical(dtype)


def tvm_access_ptr(ptype: Any, data: Any, offset: Any, extent: int, rw_mask: int = 3) -> Pointer:
    """`extent` elements of type `ptype` from number `offset` of a buffer's memory (`A.data`) on,
    counted row by row."""
    what = "T.tvm_access_ptr"
    if isinstance(data, Storage):
        data = data.buffer
    if type(data) is not Buffer or not is_dtype(ptype):
        raise LanguageError(
            f"'{what}' takes T.type_annotation(dtype) and the data of a buffer, got {ptype!r} and "
            + describe(data)
        )
    if not is_scalar(offset):
        raise LanguageError(f"'{what}': the offset is a number of elements, got {describe(offset)}")
    total = prod(data.shape, start=1)
    width, own = canonical(ptype).bytes, canonical(data.dtype_name).bytes
    flat = data if data.ndim == 1 and data.dtype_name == str(ptype) else None
    if flat is None:
        flat = view(data, (total if width == own else total * own // width,), ptype)
    return Pointer(flat[offset], _count(extent, what))
