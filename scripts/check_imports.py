#!/usr/bin/env python3
"""Compares every import of the Python package with the picture of who may import whom.

A package (a folder of python/tilewright/) imports only itself and the packages below it. PICTURE is
that picture, arrow by arrow; a path of arrows is a permission too. It holds for imports inside
functions as well: they may delay a load, but not reverse an arrow. Imports for type checkers only
(`if TYPE_CHECKING:`) are free, and so is `facade`, the module `tilewright` itself, in what it names
lazily. Our own code imports a module from its package, never by the public alias of it.

    usage: scripts/check_imports.py [ROOT]      prints one line for each wrong import
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from check_includes import rooms_below
from faults import print_faults

# package -> the packages right below it. `runtime.device` is a module that is a package of its own
# here: which GPU is meant is a fact that the language needs. So is `report.machines`: what that GPU
# has.
PICTURE: dict[str, tuple[str, ...]] = {
    "__main__": ("cli",),
    "cli": ("compat",),
    "compat": ("runtime", "facade"),
    "runtime": ("language", "report"),
    "report": ("report.machines", "support"),
    "language": ("frontend", "runtime.device"),
    "frontend": ("types",),
    "types": ("support",),
    "runtime.device": ("report.machines", "support"),
    "report.machines": ("support",),
    "facade": ("support",),
    "support": ("_core",),
    "_core": (),
}

PACKAGE = "tilewright"
EXTENSION = "_tilewright_core"  # the C++ side; `_core` finds it
SOURCES = "python/tilewright"


def room_of(module: str) -> str | None:
    """The package of PICTURE that a module of `tilewright` is in; None where no name fits."""
    parts = module.split(".")[1:]
    for length in range(len(parts), 0, -1):
        if (room := ".".join(parts[:length])) in PICTURE:
            return room
    return None if parts else "facade"


def module_of(path: Path) -> str:
    """The module that the file at `path`, relative to the folder of the package, defines."""
    parts = [PACKAGE, *path.with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.AST, modules: set[str]) -> Iterator[tuple[int, str]]:
    """The (line, module) of each import of the package that is carried out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for name in node.names:
                if name.name == EXTENSION:
                    continue
                inner = f"{node.module}.{name.name}"
                yield node.lineno, inner if inner in modules else node.module
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")
        yield from imports_of(node, modules)


def import_fault(importer: str, module: str, modules: set[str]) -> str | None:
    """What is wrong with an import of `module` in the module `importer`, or None."""
    if module.startswith("."):
        return f"import of '{module}' is relative; name the module by its package"
    if module.split(".")[0] != PACKAGE:
        return None
    room = room_of(importer)
    if room is None:
        return f"'{importer}' is in no package of PICTURE in scripts/check_imports.py"
    target = room_of(module)
    if target is None:
        if module not in modules:
            return f"'{module}' is an alias for users; import the module from its package"
        return f"'{module}' is in no package of PICTURE in scripts/check_imports.py"
    if target == room:
        return None
    below = rooms_below(room, PICTURE)
    if target not in below:
        names = ", ".join(sorted(below)) or "no other package"
        return f"{room} may not import '{module}': below {room} lie {names}"
    return None


def faults_below(root: Path) -> list[str]:
    """One message for each wrong import of the files below `root`, in path order."""
    folder = root / SOURCES
    files = sorted(folder.rglob("*.py"))
    modules = {module_of(file.relative_to(folder)) for file in files}
    faults = []
    for file in files:
        importer = module_of(file.relative_to(folder))
        path = file.relative_to(root).as_posix()
        seen = dict.fromkeys(imports_of(ast.parse(file.read_text(encoding="utf-8")), modules))
        for line, module in seen:
            if fault := import_fault(importer, module, modules):
                faults.append(f"{path}:{line}: error: {fault}")
    return faults


if __name__ == "__main__":
    sys.exit(print_faults(faults_below))
