"""The functions of the language by name, for hints in reports.

The language lies above the front end and hands its names over when it is loaded. A kernel cannot be
written without it, so a trace always finds them here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_names: frozenset[str] = frozenset()
_module: Any = None


def set_language(module: Any, names: Iterable[str]) -> None:
    """Makes the public `names` of the language's module known."""
    global _names, _module
    _names, _module = frozenset(names), module


def has(name: str) -> bool:
    """Whether the language has a public name."""
    return name in _names


def get(name: str) -> Any:
    """The object that the language has under a public name."""
    return getattr(_module, name)
