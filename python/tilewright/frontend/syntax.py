"""Refuses syntax that has no meaning in a kernel, before anything is traced."""

from __future__ import annotations

import ast

from tilewright.support.errors import LanguageError
from tilewright.support.source import location_of

_REFUSED: dict[type[ast.AST], str] = {
    ast.Try: "'try' has no meaning in a kernel: no exception is raised at run time",
    ast.ClassDef: "a class cannot be defined inside a kernel; define it outside",
    ast.Global: "'global' is not allowed in a kernel; use T.alloc_var for a value that changes",
    ast.Nonlocal: "'nonlocal' is not allowed in a kernel; use T.alloc_var for a value that changes",
    ast.Delete: "'del' is not allowed in a kernel; tiles are freed by the compiler",
    ast.Match: "'match' is not supported in a kernel; write 'if' and 'elif'",
    ast.AsyncFor: "'async for' has no meaning in a kernel",
    ast.AsyncWith: "'async with' has no meaning in a kernel",
    ast.AsyncFunctionDef: "'async def' has no meaning in a kernel",
    ast.Await: "'await' has no meaning in a kernel",
    ast.Yield: "'yield' has no meaning in a kernel: a kernel is not a generator",
    ast.YieldFrom: "'yield from' has no meaning in a kernel: a kernel is not a generator",
}
if hasattr(ast, "TryStar"):
    _REFUSED[ast.TryStar] = _REFUSED[ast.Try]


def check_syntax(function: ast.FunctionDef, file: str, kind: str) -> None:
    """Raises at the first construct of `function` that a kernel of this `kind` cannot contain.

    `kind` is "prim_func", "macro" or "eager".
    """
    parameters = {argument.arg for argument in _arguments(function)}
    if kind == "prim_func" and (function.args.vararg or function.args.kwarg):
        raise LanguageError(
            "a kernel has a fixed list of parameters; '*' and '**' are not allowed",
            location=location_of(file, function.args.vararg or function.args.kwarg),
        )
    if kind == "prim_func":
        parameters -= _hiding_names(function, parameters)
    for statement in function.body:
        _check(statement, file, kind, parameters, in_nested=False)


def _hiding_names(function: ast.FunctionDef, parameters: set[str]) -> set[str]:
    """Parameters that every assignment may hide: the name is read after it.

    Whether the parameter is a tensor and the value a scalar is known when it is traced. A name
    that is not read again is rather a store that lost its index.
    """
    last_read: dict[str, tuple[int, int]] = {}
    stores: dict[str, list[tuple[int, int]]] = {}
    ends: dict[int, tuple[int, int]] = {}  # of plain assignments, by the names they bind
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            end = (node.end_lineno or 0, node.end_col_offset or 0)
            ends |= {id(name): end for target in node.targets for name in _names(target)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Name) or node.id not in parameters:
            continue
        if isinstance(node.ctx, ast.Load):
            position = (node.lineno, node.col_offset)
            last_read[node.id] = max(position, last_read.get(node.id, position))
        else:
            stores.setdefault(node.id, []).append(ends.get(id(node), _NEVER_READ))
    return {
        name for name, positions in stores.items() if max(positions) < last_read.get(name, (0, 0))
    }


_NEVER_READ = (2**60, 0)  # after every read


def _names(target: ast.expr) -> list[ast.Name]:
    """The names that an assignment to `target` binds."""
    if isinstance(target, ast.Tuple | ast.List):
        return [name for part in target.elts for name in _names(part)]
    return [target] if isinstance(target, ast.Name) else []


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _check(node: ast.AST, file: str, kind: str, parameters: set[str], in_nested: bool) -> None:
    message = _REFUSED.get(type(node))
    if message is not None:
        raise LanguageError(message, location=location_of(file, node))
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        if kind == "prim_func" and node.id in parameters and not in_nested:
            raise LanguageError(
                f"'{node.id}' is an argument of the kernel and cannot be assigned",
                hint=f"store into it ('{node.id}[...] = ...') or use another name",
                location=location_of(file, node),
            )
    if isinstance(node, ast.Return) and kind == "prim_func" and not in_nested:
        if node.value is not None and not _is_none(node.value):
            raise LanguageError(
                "a prim_func returns nothing",
                hint="write results into its tensor parameters, or name them in 'out_idx'",
                location=location_of(file, node),
            )
    if isinstance(node, ast.Import | ast.ImportFrom) and any(a.name == "*" for a in node.names):
        raise LanguageError(
            "'import *' is not allowed in a kernel", location=location_of(file, node)
        )
    nested = isinstance(node, ast.FunctionDef | ast.Lambda | ast.ListComp | ast.SetComp)
    nested = nested or isinstance(node, ast.DictComp | ast.GeneratorExp) or in_nested
    if isinstance(node, ast.For) and _is_names(node.target):
        children: list[ast.AST] = [node.iter, *node.body, *node.orelse]  # may hide an argument
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        _check(child, file, kind, parameters, nested)


def _is_names(target: ast.expr) -> bool:
    """A name, or several of them."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(part, ast.Name) for part in parts)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
