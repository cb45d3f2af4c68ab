"""`tvm.te`: the symbols that programs of early TileLang versions take run-time extents from."""

from __future__ import annotations

from typing import Any

from tilewright.compat import refuse_rest
from tilewright.language import dynamic


def var(name: str = "tindex", dtype: Any = "int32", span: Any = None) -> Any:
    """A symbol for an extent that a call decides, as `T.dynamic` gives it."""
    return dynamic(name, dtype)


size_var = var

refuse_rest(__name__)
