"""Lets an unmodified TileLang script import Tilewright under TileLang's names.

`tilelang.language` and the like resolve to the modules of this package, the rest of TileLang's and
TVM's modules to those of `tilewright.compat`. Where torch is not installed, `torch` resolves to a
stand-in (torch_stand_in.py); where it is but finds no GPU, it answers for the chosen device
(torch_without_gpu.py).
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: Packages that programs import, and where their modules are looked for, in order.
_PACKAGES = {
    "tilelang": ("tilewright.compat.tilelang", "tilewright"),
    "tvm": ("tilewright.compat.tvm",),
}

#: Modules that have another name here.
_RENAMED = {
    "tilelang.autotuner.param": "tilewright.autotuner",
    "tilelang.jit.kernel": "tilewright.kernel",
    "tilelang.language.proxy": "tilewright.language.tensor",
    "tilelang.layout.fragment": "tilewright.compat.tilelang.layout",
    "tilelang.layout.layout": "tilewright.compat.tilelang.layout",
    "tilelang.layout.swizzle": "tilewright.compat.tilelang.layout",
    "tilelang.profiler.bench": "tilewright.compat.tilelang.bench",
    "tvm.tir": "tilewright.compat.tvm.tirx",
    "tvm.tirx.expr": "tilewright.compat.tvm.tirx",
    "tvm.tirx.op": "tilewright.compat.tvm.tirx",
}


class _AliasLoader(Loader):
    """Gives a module of this package another name; the module object is the same."""

    def __init__(self, real: str) -> None:
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._real)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the alias there


class _RefusedLoader(Loader):
    """Gives a module whose names are refused where they are used."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from tilewright.not_part import refused_module

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
        rest = inner.removeprefix(package)
        candidates = [root + rest for root in _PACKAGES[package]]
        for real in [_RENAMED[inner]] if inner in _RENAMED else candidates:
            if _find(real) is not None:
                return ModuleSpec(name, _AliasLoader(real), is_package=True)
        from tilewright.compat.absent import why_absent

        reason = why_absent(inner)
        if reason is not None:
            return ModuleSpec(name, _RefusedLoader(reason), is_package=True)
        from tilewright.errors import TilewrightError, caller_place

        raise TilewrightError(_no_module(name, candidates), caller_place())


def _no_module(name: str, candidates: list[str]) -> str:
    """What to say of a module that is not here: a slip of the fingers, or not supported."""
    import pkgutil

    from tilewright.suggest import close_name

    siblings: list[str] = []
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
            from tilewright.errors import TilewrightError, caller_place

            raise TilewrightError(
                f"the module '{name}' is not part of the stand-in torch; install torch to use it",
                caller_place(),
            )
        suffix = name.removeprefix("torch").replace(".", "_")
        return ModuleSpec(name, _AliasLoader(f"tilewright.cli.torch_stand_in{suffix}"))


class _TorchPatcher(MetaPathFinder):
    """Where the real torch has no GPU, it answers for the chosen device (torch_without_gpu.py)."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)  # once; the others find the real module
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        from tilewright.cli import torch_without_gpu

        def exec_and_patch(module: ModuleType) -> None:
            execute(module)
            torch_without_gpu.install(module)

        spec.loader.exec_module = exec_and_patch  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Makes the aliases importable in this process."""
    sys.meta_path.insert(0, TileLangFinder())
    if "torch" in sys.modules:
        from tilewright.cli import torch_without_gpu

        torch_without_gpu.install(sys.modules["torch"])
    elif find_spec("torch") is None:
        sys.meta_path.insert(0, _TorchFinder())
    else:
        sys.meta_path.insert(0, _TorchPatcher())
