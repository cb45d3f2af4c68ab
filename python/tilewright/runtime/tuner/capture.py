"""What a block of the program says to tuners inside it.

with set_autotune_inputs(a, b): ...     real tensors for the candidates
with set_autotune_executor(pool): ...   where the candidates run
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_inputs: ContextVar[list[Any] | None] = ContextVar("autotune inputs", default=None)
_executor: ContextVar[Executor | None] = ContextVar("autotune executor", default=None)


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


@contextmanager
def set_autotune_executor(executor: Executor | None) -> Iterator[None]:
    """Tuning inside this block runs candidates as tasks of `executor`; None: in this process."""
    token = _executor.set(executor)
    try:
        yield
    finally:
        _executor.reset(token)


def get_autotune_executor() -> Executor | None:
    """The executor of the innermost block; None outside."""
    return _executor.get()
