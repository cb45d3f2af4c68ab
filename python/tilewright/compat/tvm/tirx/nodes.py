"""Nodes of TVM's IR that programs look for in a traced function.

Of the statements of a function only its calls of unknown functions are nodes
(frontend/externs.py): a program finds them, and removes them.
"""

from __future__ import annotations

from typing import Any

from tilewright.frontend.externs import ExternCall
from tilewright.frontend.functions import PrimFunc as _PrimFunc
from tilewright.language.value_kinds import Kind
from tilewright.support.errors import TilewrightError, caller_location


class Text(str):
    """A text constant, as an argument of a call."""

    @property
    def value(self) -> str:
        """The text."""
        return str(self)


class Call:
    """A call: its first argument is the name of the function."""

    def __init__(self, extern: ExternCall) -> None:
        self.extern = extern
        self.args = (Text(extern.name), *extern.arguments)


class Evaluate:
    """A statement for the effect of `value`: a call, or a number, which has none."""

    def __init__(self, value: Any) -> None:
        self.value = value


class PrimFunc(metaclass=Kind):
    """A traced function; `tvm.tirx.PrimFunc(params, body, …)` is one of a body that `ir_transform`
    gave."""

    accepts = (_PrimFunc,)

    def __new__(
        cls,
        params: Any,
        body: Any,
        ret_type: Any = None,
        buffer_map: Any = None,
        attrs: Any = None,
        span: Any = None,
    ) -> Any:
        if not isinstance(body, _PrimFunc) or list(params) != list(body.params):
            raise TilewrightError(
                "'tvm.tirx.PrimFunc' takes the parameters and the body of a traced function; "
                "Tilewright has no TVM IR, write kernels with tilelang.language",
                caller_location(),
            )
        return body
