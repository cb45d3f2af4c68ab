"""`tilelang.transform`: pass configs, and what programs ask of its passes."""

from __future__ import annotations

from typing import Any

from tilewright.compat import refuse_rest
from tilewright.compat.tvm.transform import PassContext
from tilewright.runtime.pass_config import PassConfigKey


def simplify_prim_func(function: Any) -> Any:
    """The function itself: the compiler simplifies every program."""
    return function


__all__ = ["PassConfigKey", "PassContext", "simplify_prim_func"]

refuse_rest(__name__)
