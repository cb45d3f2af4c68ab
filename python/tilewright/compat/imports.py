"""Lets an unmodified TileLang script import Tilewright under TileLang's names.

`tilelang.language` and the like resolve to the public modules of Tilewright, the rest of TileLang's
and TVM's modules to those of this package. Where torch is not installed, `torch` resolves to a
stand-in (torch/stand_in.py); where it is but finds no GPU, it answers for the chosen device
(torch/without_gpu.py).
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from tilewright import PUBLIC
from tilewright.language.names import MODULES
from tilewright.support.aliases import AliasLoader

#: Packages that programs import, and where their modules are looked for, in order.
_PACKAGES = {
    "tilelang": ("tilewright.compat.tilelang", "tilewright"),
    "tvm": ("tilewright.compat.tvm",),
    "tvm_ffi": (),
}

#: Modules of `tilewright` that are TileLang's too.
_SHARED = ("language", *PUBLIC)

#: Modules that have another name here.
_RENAMED = {
    "tilelang.language.proxy": "tilewright.language.tensor",
    "tilelang.autotuner.param": "tilewright.runtime.tuner",
    "tilelang.cuda.intrinsics": "tilewright.compat.tilelang.mma_emitters",
    "tilelang.cuda.intrinsics.layout.mma_layout": "tilewright.compat.tilelang.mma_emitters",
    "tilelang.cuda.intrinsics.macro.mma_macro_generator": "tilewright.compat.tilelang.mma_emitters",
    "tilelang.cuda.language.intrinsics": "tilewright.compat.tilelang.mma_emitters",
    "tilelang.cuda.intrinsics.sparse_layout": "tilewright.compat.tilelang.sparse_layout",
    "tilelang.intrinsics.mma_layout": "tilewright.compat.tilelang.intrinsics",
    "tilelang.intrinsics.mma_macro_generator": "tilewright.compat.tilelang.intrinsics",
    "tilelang.intrinsics.utils": "tilewright.compat.tilelang.intrinsics",
    "tilelang.jit.adapter.cutedsl.checks": "tilewright.compat.tilelang.cutedsl_checks",
    "tilelang.jit.kernel": "tilewright.runtime.kernel",
    "tilelang.layout.fragment": "tilewright.compat.tilelang.layout",
    "tilelang.layout.layout": "tilewright.compat.tilelang.layout",
    "tilelang.layout.swizzle": "tilewright.compat.tilelang.layout",
    "tilelang.profiler.bench": "tilewright.compat.tilelang.bench",
    "tvm.tir": "tilewright.compat.tvm.tirx",
    "tvm.tirx.expr": "tilewright.compat.tvm.tirx",
    "tvm.tirx.op": "tilewright.compat.tvm.tirx",
}


class _RefusedLoader(Loader):
    """Gives a module whose names are refused where they are used."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from tilewright.support.not_part import refused_module

        return refused_module(spec.name, self._reason)

    def exec_module(self, module: ModuleType) -> None:
        """It has no code."""


class TileLangFinder(MetaPathFinder):
    """Finds `tilelang`, the `tvm` beside it, and their submodules in this package."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package = name.split(".")[0]
        if package not in _PACKAGES:
            return None
        if name == "tilelang.tvm" or name.startswith("tilelang.tvm."):
            package, inner = "tvm", name.removeprefix("tilelang.")
        else:
            inner = name
        candidates = _candidates(package, inner)
        for real in candidates:
            if _find(real) is not None:
                return ModuleSpec(name, AliasLoader(real), is_package=True)
        from tilewright.compat.absent import why_absent

        reason = why_absent(inner)
        if reason is not None:
            return ModuleSpec(name, _RefusedLoader(reason), is_package=True)
        from tilewright.support.errors import TilewrightError, caller_location

        raise TilewrightError(_no_module(name, candidates), caller_location())


def _candidates(package: str, name: str) -> list[str]:
    """What `name`, a module of `package`, may be here, in order."""
    if name in _RENAMED:
        return [_RENAMED[name]]
    inner = name.removeprefix("tilelang.language.")
    if inner != name and inner.split(".")[0] in MODULES:
        return ["tilewright.language"]
    rest = name[len(package) :]
    roots = _PACKAGES[package]
    is_shared = not rest or rest.split(".")[1] in _SHARED
    return [root + rest for root in roots if is_shared or root != "tilewright"]


def _no_module(name: str, candidates: list[str]) -> str:
    """What to say of a module that is not here: a slip of the fingers, or not supported."""
    import pkgutil

    from tilewright.support.suggest import close_name

    siblings = [*_SHARED] if name.count(".") == 1 else []
    for parent, _, _ in (real.rpartition(".") for real in candidates):
        if _find(parent) is not None:
            folders = getattr(importlib.import_module(parent), "__path__", ())
            siblings += [module.name for module in pkgutil.iter_modules(folders)]
    alias, _, last = name.rpartition(".")
    if close := close_name(last, siblings):
        return f"there is no module '{name}'; did you mean '{alias}.{close}'?"
    return f"the module '{name}' is not supported yet"


def _find(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except ModuleNotFoundError:  # a package on the way does not exist
        return None


class _TorchFinder(MetaPathFinder):
    """Supplies the stand-in torch."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.split(".")[0] != "torch":
            return None
        if name not in ("torch", "torch.cuda"):
            from tilewright.support.errors import TilewrightError, caller_location

            raise TilewrightError(
                f"the module '{name}' is not part of the stand-in torch; install torch to use it",
                caller_location(),
            )
        suffix = name.removeprefix("torch").replace(".", "_")
        return ModuleSpec(name, AliasLoader(f"tilewright.compat.torch.stand_in{suffix}"))


class _TorchPatcher(MetaPathFinder):
    """Where the real torch has no GPU, it answers for the chosen device (torch/without_gpu.py)."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)  # once; the others find the real module
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        from tilewright.compat.torch import without_gpu

        def exec_and_patch(module: ModuleType) -> None:
            execute(module)
            without_gpu.install(module)

        spec.loader.exec_module = exec_and_patch  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Makes the aliases importable in this process."""
    sys.meta_path.insert(0, TileLangFinder())
    if "torch" in sys.modules:
        from tilewright.compat.torch import without_gpu

        without_gpu.install(sys.modules["torch"])
    elif find_spec("torch") is None:
        sys.meta_path.insert(0, _TorchFinder())
    else:
        sys.meta_path.insert(0, _TorchPatcher())
