"""The package `tilelang`: Tilewright's functions, and TileLang's modules around them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import tilewright
from tilewright.compat import keep_names
from tilewright.compat.absent import ABSENT

#: The version of TileLang whose names and signatures these are.
__version__ = "0.1.15"

#: Modules of this package (and of `tilewright`, which has the rest).
_MODULES = (
    "backend", "carver", "contrib", "cuda", "engine", "layout", "tileop", "tools", "transform",
    "utils",
)  # fmt: skip

#: Names and the modules they are taken from.
_LAZY = {
    "env": "tilewright.compat.tilelang.env",
    "lower": "tilewright.compat.tilelang.engine",
    "register_c_postproc": "tilewright.compat.tilelang.engine",
    "register_cuda_postproc": "tilewright.compat.tilelang.engine",
    "register_hip_postproc": "tilewright.compat.tilelang.engine",
    "deprecated": "tilewright.compat.tilelang.utils",
    "build_date": "tilewright.compat.tilelang.utils",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"tilewright.compat.tilelang.{name}")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name == "tvm":
        return import_module("tilewright.compat.tvm")
    if name == "logger":
        import logging

        return logging.getLogger("tilelang")
    if f"tilelang.{name}" in ABSENT and not hasattr(tilewright, name):
        return import_module(f"tilelang.{name}")
    return getattr(tilewright, name)


def __dir__() -> list[str]:
    return sorted({*dir(tilewright), *_MODULES, *_LAZY, "logger", "tvm"})


keep_names(__name__, "env", "jit")
