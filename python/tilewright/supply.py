"""How generated inputs are filled."""

from __future__ import annotations

from enum import Enum


class TensorSupplyType(Enum):
    """Distributions of generated tensors."""

    Integer = 1
    Uniform = 2
    Normal = 3
    Randn = 4
    Zero = 5
    One = 6
    Auto = 7
