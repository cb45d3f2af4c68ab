"""Modules under a second name.

A user imports `tilewright.profiler`; its file lies where its package is, in `runtime/`. Both names
give the same module object, so nothing is loaded twice. The classes derive from nothing, because
loading `importlib.abc` takes as long as the rest of `import tilewright`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class AliasLoader:
    """Gives a module another name; the module object is the same."""

    def __init__(self, real: str) -> None:
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._real)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the alias there


class PublicFinder:
    """Finds `package.name`, and the modules below it, where `names` says that they are."""

    def __init__(self, package: str, names: Mapping[str, str]) -> None:
        self._prefix = f"{package}."
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith(self._prefix):
            return None
        first, dot, rest = name.removeprefix(self._prefix).partition(".")
        if first not in self._names:
            return None
        real = f"{self._prefix}{self._names[first]}{dot}{rest}"
        if rest and not _exists(real):
            return None
        return ModuleSpec(name, AliasLoader(real), is_package=True)


def _exists(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


class MisspeltFinder:
    """Asked last: says which module of the package was probably meant."""

    def __init__(self, package: str, names: Sequence[str]) -> None:
        self._prefix = f"{package}."
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        last = name.removeprefix(self._prefix)
        if last == name or "." in last:
            return
        from tilewright.support.errors import ReportedModuleError, caller_location
        from tilewright.support.suggest import hint_for

        if hint := hint_for(last, self._names, self._prefix):
            error = ReportedModuleError(f"there is no module '{name}'; {hint}", caller_location())
            error.name = name  # `from package import name` reads it
            raise error


def publish(package: str, names: Mapping[str, str], also: Sequence[str] = ()) -> None:
    """Makes the modules of `names` importable as `package.name`; values are paths in the package.
    `also` are modules that lie there already, for the advice on misspelt ones.

    The finder comes first: below an alias of a package, Python's own would load files again.
    """
    sys.meta_path.insert(0, PublicFinder(package, names))  # type: ignore[arg-type]
    sys.meta_path.append(MisspeltFinder(package, [*names, *also]))  # type: ignore[arg-type]
