"""Calls of functions that are in no library, and that a program takes away before it compiles.

Tools mark places of a kernel so (`T.call_extern("handle", "marker", …)`), and pass it through a
transformation of theirs. A call that is still there when the function is compiled is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilewright.support.errors import Location


@dataclass(frozen=True)
class ExternCall:
    """One such call, as a statement."""

    name: str
    arguments: tuple[Any, ...]
    location: Location | None
