"""What scripts use of TVM beside TileLang: names of element types, targets, constants."""

from __future__ import annotations

from tilewright.dtypes import dtype as DataType
from tilewright.tvm import target, testing, tirx
from tilewright.tvm import tirx as tir

__all__ = ["DataType", "target", "testing", "tir", "tirx"]
