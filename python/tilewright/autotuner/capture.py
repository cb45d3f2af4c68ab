"""`with set_autotune_inputs(a, b): kernel = tuned(...)`: real tensors for the tuner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_inputs: ContextVar[list[Any] | None] = ContextVar("autotune inputs", default=None)


@contextmanager
def set_autotune_inputs(*args: Any) -> Iterator[None]:
    """Tuning inside this block runs candidates on these tensors (or this one list of them)."""
    is_list = len(args) == 1 and isinstance(args[0], list | tuple)
    token = _inputs.set(list(args[0]) if is_list else list(args))
    try:
        yield
    finally:
        _inputs.reset(token)


def get_autotune_inputs() -> list[Any] | None:
    """The tensors of the innermost block; None outside."""
    return _inputs.get()
