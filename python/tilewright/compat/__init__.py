"""TileLang's and TVM's modules, as programs import them.

Nothing of the compiler is here: these modules give TileLang's names to what Tilewright has, and
refuse, at its use, what it has not. `tilewright.compat.imports` makes them importable as `tilelang`
and `tvm`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def keep_names(package: str, *names: str) -> None:
    """Lets `names` of a package stay functions and objects when its modules of the same names are
    imported: the import system would put the modules there."""

    class Package(ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            if not (name in names and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    sys.modules[package].__class__ = Package


def refuse_rest(package: str) -> None:
    """Lets the names that a package does not have be imported; their use is refused. A module of
    the package is one: `from package import module` looks the name up before it imports it."""
    from tilewright.compat.absent import why_absent
    from tilewright.support.not_part import refuse_names

    name = package.removeprefix("tilewright.compat.")
    reason = why_absent(name) or "Tilewright is not built on TVM; see docs/compatibility.md"
    module, refuse = sys.modules[package], refuse_names(name, reason)

    def find(attribute: str) -> Any:
        is_package = "__path__" in vars(module) and not attribute.startswith("_")
        if is_package and find_spec(f"{package}.{attribute}") is not None:
            return import_module(f"{package}.{attribute}")
        return refuse(attribute)

    module.__getattr__ = find  # type: ignore[method-assign]
