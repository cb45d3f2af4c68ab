"""What programs use of TVM beside TileLang: names of element types, targets, expressions."""

from __future__ import annotations

from typing import Any

from tilewright.compat.tvm import error, ir, runtime, target, testing, tirx, transform
from tilewright.compat.tvm import tirx as tir
from tilewright.compat.tvm.error import TVMError
from tilewright.compat.tvm.ir import IRModule
from tilewright.dtypes import dtype as DataType
from tilewright.not_part import refuse_names

__all__ = [
    "DataType",
    "IRModule",
    "TVMError",
    "error",
    "ir",
    "runtime",
    "target",
    "testing",
    "tir",
    "tirx",
    "transform",
]

_refused = refuse_names("tvm", "Tilewright is not built on TVM; see docs/compatibility.md")


def __getattr__(name: str) -> Any:
    return _refused(name)
