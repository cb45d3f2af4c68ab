"""Tilewright: a compiler for TileLang kernels that proves its decisions and needs no GPU.

    import tilewright
    import tilewright.language as T

    @tilewright.jit
    def double(n):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, 128), threads=128) as bx:
                for i in T.Parallel(128):
                    B[bx * 128 + i] = A[bx * 128 + i] * 2.0
        return main

    double(1000)(a, b)      # numpy arrays or torch CPU tensors

Importing this package is cheap: its parts are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tilewright.environment import warn_of_misspelt_names
from tilewright.errors import TilewrightError, install_excepthook

if TYPE_CHECKING:
    from tilewright import autotuner, language, layout, math, profiler, testing
    from tilewright.autotuner import autotune
    from tilewright.jitting import compile, jit, par_compile
    from tilewright.kernel import JITKernel
    from tilewright.layout import Fragment, Layout
    from tilewright.math import cdiv, next_power_of_2
    from tilewright.pass_config import PassConfigKey
    from tilewright.profiler import Profiler
    from tilewright.supply import TensorSupplyType

__version__ = "0.1.0"

_LAZY = {
    "jit": "tilewright.jitting",
    "autotune": "tilewright.autotuner",
    "Profiler": "tilewright.profiler",
    "compile": "tilewright.jitting",
    "par_compile": "tilewright.jitting",
    "JITKernel": "tilewright.kernel",
    "Layout": "tilewright.layout",
    "Fragment": "tilewright.layout",
    "PassConfigKey": "tilewright.pass_config",
    "TensorSupplyType": "tilewright.supply",
    "cdiv": "tilewright.math",
    "next_power_of_2": "tilewright.math",
    "GemmWarpPolicy": "tilewright.language",
    "DataType": "tilewright.compat.tvm",
}
_MODULES = ("autotuner", "dtypes", "language", "layout", "math", "profiler", "testing")
#: Modules of TileLang that only its programs use, and a function of one.
_COMPAT = (
    "carver", "contrib", "cuda", "engine", "env", "lower", "tileop", "tools", "transform", "tvm",
    "utils",
)  # fmt: skip

install_excepthook()
warn_of_misspelt_names()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(import_module(_LAZY[name]), name)
    elif name in _MODULES:
        value = import_module(f"tilewright.{name}")
    elif name in _COMPAT:
        value = getattr(import_module("tilewright.compat.tilelang"), name)
    elif name.startswith("__"):
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    else:
        from tilewright.errors import ReportedNameError, caller_place
        from tilewright.suggest import hint_for

        hint = hint_for(name, [n for n in __dir__() if not n.startswith("_")], "tilewright.")
        text = f"module 'tilewright' has no attribute '{name}'"
        raise ReportedNameError(f"{text}; {hint}" if hint else text, caller_place())
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY, *_MODULES, *_COMPAT])


def set_log_level(level: str) -> None:
    """Accepted for TileLang's scripts: Tilewright prints remarks only when asked."""


def disable_cache() -> None:
    """Keeps nothing on disk and takes nothing from there, from now on."""
    from tilewright._core import core

    core.set_cache_enabled(False)


def enable_cache() -> None:
    """Takes `disable_cache` back."""
    from tilewright._core import core

    core.set_cache_enabled(True)


def is_cache_enabled() -> bool:
    """Whether compiled code is kept on disk."""
    from tilewright._core import core

    return bool(core.cache_status()["directory"])


__all__ = [
    "Fragment",
    "JITKernel",
    "Layout",
    "PassConfigKey",
    "Profiler",
    "TensorSupplyType",
    "TilewrightError",
    "autotune",
    "autotuner",
    "cdiv",
    "compile",
    "disable_cache",
    "enable_cache",
    "is_cache_enabled",
    "jit",
    "language",
    "layout",
    "math",
    "next_power_of_2",
    "par_compile",
    "profiler",
    "set_log_level",
    "testing",
]
