"""Layouts of shared tiles for matrix instructions."""

from __future__ import annotations

from typing import Any

from tilewright.compat import refuse_rest
from tilewright.types.dtypes import canonical
from tilewright.types.layout import make_swizzled_layout


def make_mma_swizzle_layout(shared_buf: Any, is_smooth: bool = False) -> Any:
    """A layout without bank conflicts; `is_smooth` selects the plain one."""
    from tilewright.types.layout import Layout

    if is_smooth:
        return Layout(list(shared_buf.shape), lambda *index: list(index))
    return make_swizzled_layout(shared_buf)


def get_swizzle_layout(
    row_idx: Any, col_idx: Any, row_size: int, dtype: Any, swizzle_bytes: int | None = None
) -> tuple[Any, Any]:
    """Where element (row, column) of a shared tile lies so that columns meet few bank conflicts:
    pieces of 16 bytes change places within a row, by the row's number. Placements change no value.
    """
    width = canonical(dtype).bits // 8
    piece = 16 // width
    row_bytes = swizzle_bytes or next(
        (size for size in (128, 64, 32) if row_size * width % size == 0), 0
    )
    pieces = row_bytes // 16
    if pieces < 2:
        return row_idx, col_idx
    mask = (row_idx % 8) // (8 // pieces)
    return row_idx, ((col_idx // piece) ^ mask) * piece + col_idx % piece


__all__ = ["get_swizzle_layout", "make_mma_swizzle_layout"]

refuse_rest(__name__)
