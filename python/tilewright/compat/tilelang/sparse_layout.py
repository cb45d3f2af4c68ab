"""Which numbers of a sparse operand an integer of its metadata is about (language/sparse.py)."""

from __future__ import annotations

from typing import Any

from tilewright.language.sparse import elements_per_word as get_e_factor
from tilewright.language.sparse import group_of
from tilewright.types.dtypes import dtype

__all__ = ["GROUP_CONFIG", "get_e_factor", "get_e_replicate_factor"]

#: By dtype: how many numbers are kept of how many.
GROUP_CONFIG = {
    dtype(name): group_of(name)
    for name in (
        "float32", "float16", "bfloat16", "int8", "uint8", "float8_e4m3fn", "float8_e5m2",
    )
}  # fmt: skip


def get_e_replicate_factor(a_dtype: Any) -> int:
    """How many threads in a row share a group of the metadata in TileLang's code."""
    return 1 if dtype(a_dtype).bits <= 8 else 2
