"""What programs use of TVM beside TileLang: names of element types, targets, expressions."""

from __future__ import annotations

from tilewright.compat import refuse_rest
from tilewright.compat.tvm import error, ir, runtime, target, testing, tirx, transform
from tilewright.compat.tvm import tirx as tir
from tilewright.compat.tvm.error import TVMError
from tilewright.compat.tvm.ir import IRModule
from tilewright.types.dtypes import dtype as DataType

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

refuse_rest(__name__)
