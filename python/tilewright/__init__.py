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

from tilewright.support.aliases import publish
from tilewright.support.environment import warn_of_misspelt_names
from tilewright.support.errors import TilewrightError, install_excepthook

if TYPE_CHECKING:
    from tilewright import language
    from tilewright.compat.tilelang import testing
    from tilewright.runtime import profiler
    from tilewright.runtime import tuner as autotuner
    from tilewright.runtime.cache import disable_cache, enable_cache, is_cache_enabled
    from tilewright.runtime.export import export_library, get_cmake_dir, get_include
    from tilewright.runtime.jitting import compile, jit, par_compile
    from tilewright.runtime.kernel import JITKernel
    from tilewright.runtime.pass_config import PassConfigKey
    from tilewright.runtime.profiler import Profiler
    from tilewright.runtime.supply import TensorSupplyType
    from tilewright.runtime.torch_op import torch_op
    from tilewright.runtime.tuner import autotune
    from tilewright.support import math
    from tilewright.support.math import cdiv, next_power_of_2
    from tilewright.support.version import __version__
    from tilewright.types import layout
    from tilewright.types.layout import Fragment, Layout

#: Modules that users import as `tilewright.NAME`, and where each is. Our own code names it.
PUBLIC = {
    "arguments": "runtime.arguments",
    "autotuner": "runtime.tuner",
    "device": "runtime.device",
    "dtypes": "types.dtypes",
    "errors": "support.errors",
    "findings": "runtime.findings",
    "jitting": "runtime.jitting",
    "kernel": "runtime.kernel",
    "layout": "types.layout",
    "math": "support.math",
    "pass_config": "runtime.pass_config",
    "profiler": "runtime.profiler",
    "ptxas": "runtime.ptxas",
    "supply": "runtime.supply",
    "testing": "compat.tilelang.testing",
    "verify": "runtime.verify",
    "vgpu": "runtime.vgpu",
}

#: Names of the package, and the modules they are taken from when they are first used.
_LAZY = {
    "DataType": "compat.tvm",
    "Fragment": "types.layout",
    "GemmWarpPolicy": "language",
    "JITKernel": "runtime.kernel",
    "Layout": "types.layout",
    "PassConfigKey": "runtime.pass_config",
    "Profiler": "runtime.profiler",
    "TensorSupplyType": "runtime.supply",
    "__version__": "support.version",
    "autotune": "runtime.tuner",
    "cdiv": "support.math",
    "compile": "runtime.jitting",
    "disable_cache": "runtime.cache",
    "enable_cache": "runtime.cache",
    "export_library": "runtime.export",
    "get_cmake_dir": "runtime.export",
    "get_include": "runtime.export",
    "is_cache_enabled": "runtime.cache",
    "jit": "runtime.jitting",
    "next_power_of_2": "support.math",
    "par_compile": "runtime.jitting",
    "torch_op": "runtime.torch_op",
}
_MODULES = ("language", *PUBLIC)
#: Modules of TileLang that only its programs use, and a function of one.
_COMPAT = (
    "carver", "contrib", "cuda", "engine", "env", "lower", "tileop", "tools", "transform", "tvm",
    "utils",
)  # fmt: skip

publish(__name__, PUBLIC, also=("language", "report"))
install_excepthook()
warn_of_misspelt_names()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(import_module(f"tilewright.{_LAZY[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"tilewright.{name}")
    elif name in _COMPAT:
        value = getattr(import_module("tilewright.compat.tilelang"), name)
    elif name.startswith("__"):
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    else:
        from tilewright.support.errors import unknown_name
        from tilewright.support.suggest import hint_for

        known = [n for n in __dir__() if not n.startswith("_")]
        known.sort(key=lambda n: n[0].isupper() != name[0].isupper())  # `profiler`, `Profiler`
        hint = hint_for(name, known, "tilewright.")
        text = f"module 'tilewright' has no attribute '{name}'"
        raise unknown_name(f"{text}; {hint}" if hint else text)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY, *_MODULES, *_COMPAT])


def set_log_level(level: str) -> None:
    """Accepted for TileLang's scripts: Tilewright prints remarks only when asked."""


__all__ = [
    "Fragment",
    "JITKernel",
    "Layout",
    "PassConfigKey",
    "Profiler",
    "TensorSupplyType",
    "TilewrightError",
    "__version__",
    "autotune",
    "autotuner",
    "cdiv",
    "compile",
    "disable_cache",
    "enable_cache",
    "export_library",
    "get_cmake_dir",
    "get_include",
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
    "torch_op",
]
