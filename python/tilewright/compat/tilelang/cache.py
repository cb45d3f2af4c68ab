"""`tilelang.cache`: what programs of earlier TileLang versions call at their start."""

from __future__ import annotations

from tilewright.compat import refuse_rest


def clear_cache() -> None:
    """Nothing needs to go: compiled code is kept by the contents of the program, so that a changed
    program never finds the code of an earlier one."""


refuse_rest(__name__)
