"""A stand-in for torch where it is not installed: dtypes, device queries and seeds.

Every other attribute is an error that names it.
"""

from __future__ import annotations

import random
from typing import Any

from tilewright.compat.torch import stand_in_cuda as cuda
from tilewright.support.errors import ReportedNameError, caller_location

__version__ = "0.0.0+tilewright.stand-in"


class dtype:  # noqa: N801 - torch's name
    """A dtype of torch, compared by identity as torch does."""

    def __init__(self, name: str, itemsize: int, floating: bool) -> None:
        self._name, self.itemsize, self.is_floating_point = name, itemsize, floating

    def __repr__(self) -> str:
        return f"torch.{self._name}"


# The language recognises torch's dtypes by their module and class name.
dtype.__module__ = "torch"

_DTYPES = {
    name: dtype(name, size, floating)
    for name, size, floating in (
        ("bool", 1, False), ("uint8", 1, False), ("int8", 1, False), ("int16", 2, False),
        ("int32", 4, False), ("int64", 8, False), ("uint16", 2, False), ("uint32", 4, False),
        ("uint64", 8, False), ("float16", 2, True), ("bfloat16", 2, True), ("float32", 4, True),
        ("float64", 8, True), ("float8_e4m3fn", 1, True), ("float8_e5m2", 1, True),
    )
}  # fmt: skip
_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32",
    "long": "int64",
}  # fmt: skip


class device:  # noqa: N801 - torch's name
    """A device of torch; only a name."""

    def __init__(self, name: Any, index: int | None = None) -> None:
        text = str(name)
        self.type, _, number = text.partition(":")
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}')"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


def manual_seed(seed: int) -> None:
    """Seeds Python's and numpy's random numbers."""
    random.seed(seed)
    import numpy

    numpy.random.seed(seed % 2**32)


def __getattr__(name: str) -> Any:
    if name in _DTYPES or name in _ALIASES:
        return _DTYPES[_ALIASES.get(name, name)]
    if name.startswith("__"):
        raise AttributeError(name)
    raise ReportedNameError(
        f"'torch.{name}' is not part of the stand-in torch; install torch to use it",
        caller_location(),
    )


__all__ = ["cuda", "device", "dtype", "manual_seed"]
