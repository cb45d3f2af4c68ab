"""`tilelang.transform`: pass configs, and what programs ask of its passes."""

from __future__ import annotations

from typing import Any

from tilewright.compat.tvm.transform import PassContext
from tilewright.not_part import refuse_names
from tilewright.pass_config import PassConfigKey


def simplify_prim_func(function: Any) -> Any:
    """The function itself: the compiler simplifies every program."""
    return function


__all__ = ["PassConfigKey", "PassContext", "simplify_prim_func"]

_refused = refuse_names(
    "tilelang.transform", "the passes are Tilewright's own: kernel.ir(pass) shows their results"
)


def __getattr__(name: str) -> Any:
    return _refused(name)
