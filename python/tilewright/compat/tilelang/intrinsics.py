"""`tilelang.intrinsics`, as earlier TileLang versions have it: `get_swizzle_layout` gives a row and
a column, where that of today gives a panel first."""

from __future__ import annotations

from typing import Any

from tilewright.compat.tilelang import mma_emitters
from tilewright.compat.tilelang.mma_emitters import TensorCoreIntrinEmitter, make_mma_swizzle_layout
from tilewright.types.dtypes import dtype as make_dtype

__all__ = ["TensorCoreIntrinEmitter", "get_swizzle_layout", "make_mma_swizzle_layout"]


def get_swizzle_layout(
    row_idx: Any, col_idx: Any, row_size: int, dtype: Any, swizzle_bytes: int | None = None
) -> tuple[Any, Any]:
    """Where an element of a row goes: units of 16 bytes of a row change places by its number."""
    bits = make_dtype(dtype).bits
    unit, panel = 128 // bits, swizzle_bytes or min(128, bits * row_size // 8)
    return row_idx, ((col_idx // unit) ^ (row_idx % (panel // 16))) * unit + col_idx % unit


__getattr__ = mma_emitters.__getattr__
