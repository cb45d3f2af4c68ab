"""Layouts of shared tiles for matrix instructions."""

from __future__ import annotations

from typing import Any

from tilewright.layout import make_swizzled_layout


def make_mma_swizzle_layout(shared_buf: Any, is_smooth: bool = False) -> Any:
    """A layout without bank conflicts; `is_smooth` asks for the plain one."""
    from tilewright.layout import Layout

    if is_smooth:
        return Layout(list(shared_buf.shape), lambda *index: list(index))
    return make_swizzled_layout(shared_buf)


__all__ = ["make_mma_swizzle_layout"]
