"""`tvm.transform`: the context in which TVM's passes run."""

from __future__ import annotations

from typing import Any

from tilewright.compat import refuse_rest
from tilewright.runtime.pass_config import normalize


class PassContext:
    """`with PassContext(config={...}):` accepts known keys; passes are Tilewright's own.

    The configs that change numbers are those of `tilelang.jit(pass_configs=...)`.
    """

    def __init__(self, opt_level: int = 3, config: Any = None, **others: Any) -> None:
        self.opt_level = opt_level
        self.config = normalize({k: v for k, v in (config or {}).items() if "tl." in str(k)})

    def __enter__(self) -> PassContext:
        return self

    def __exit__(self, *error: object) -> None:
        pass


__all__ = ["PassContext"]

refuse_rest(__name__)
