"""Transformations of the calls of unknown functions in a traced function (nodes.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.compat import refuse_rest
from tilewright.compat.tvm.tirx.nodes import Call, Evaluate
from tilewright.frontend.functions import PrimFunc
from tilewright.support.errors import TilewrightError, caller_location


def post_order_visit(body: PrimFunc, visit: Callable[[Any], Any]) -> None:
    """Calls `visit` with each node, inner ones first."""
    for extern in body.externs:
        call = Call(extern)
        visit(call)
        visit(Evaluate(call))


def ir_transform(
    body: PrimFunc,
    before: Callable[[Any], Any] | None,
    after: Callable[[Any], Any] | None,
    only: Any = None,
) -> PrimFunc:
    """The body with what the functions give for each statement: itself, or a number for a statement
    that is gone. None stands for the statement itself."""
    kept = []
    for extern in body.externs:
        node: Any = Evaluate(Call(extern))
        for function in (before, after):
            given = function(node) if function is not None and isinstance(node, Evaluate) else None
            node = node if given is None else given
        if not isinstance(node, Evaluate):
            raise TilewrightError(
                f"the call of '{extern.name}' can be removed, and not replaced: Tilewright has no "
                "TVM IR, write kernels with tilelang.language",
                caller_location(),
            )
        if isinstance(node.value, Call):
            kept.append(node.value.extern)
    return body.with_externs(kept)


refuse_rest(__name__)
