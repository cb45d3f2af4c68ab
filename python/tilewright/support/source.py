"""Finds the syntax tree of a function object, parsed once a file, with original positions."""

from __future__ import annotations

import ast
import linecache
from types import FunctionType

from tilewright.support.errors import LanguageError, Location

_parsed: dict[str, tuple[list[str], ast.Module]] = {}


def parse_file(file: str) -> ast.Module | None:
    """The tree of `file`, or None if its text is not reachable or does not parse."""
    lines = linecache.getlines(file)
    if not lines:
        return None
    known = _parsed.get(file)
    if known is not None and known[0] is lines:
        return known[1]
    try:
        tree = ast.parse("".join(lines), file)
    except SyntaxError:
        return None
    _parsed[file] = (lines, tree)
    return tree


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def function_node(function: FunctionType) -> ast.FunctionDef:
    """The definition of `function` in its file."""
    code = function.__code__
    if code.co_name == "<lambda>":
        raise LanguageError("a lambda cannot be a kernel", hint="define it with 'def'")
    tree = parse_file(code.co_filename)
    if tree is None:
        raise LanguageError(
            f"the source text of '{code.co_name}' is not reachable ({code.co_filename})",
            hint="kernels are rewritten from their source: define them in a file",
        )
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            if _first_line(node) == code.co_firstlineno:
                if isinstance(node, ast.AsyncFunctionDef):
                    raise LanguageError(
                        "an 'async def' cannot be a kernel",
                        location=location_of(code.co_filename, node),
                    )
                return node
    raise LanguageError(
        f"'{code.co_name}' is not found in {code.co_filename}",
        hint="the file changed since it was loaded",
    )


def location_of(file: str, node: ast.AST) -> Location:
    """The source range of a node; of a compound statement, only its head."""
    line, column = node.lineno, node.col_offset + 1
    end_line, end_column = node.end_lineno or line, (node.end_col_offset or 0) + 1
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(node, ast.stmt):
        text = linecache.getline(file, line).rstrip()
        end_line, end_column = line, len(text.encode()) + 1
    return Location(file, line, column, end_line, end_column)


def statement_at(location: Location) -> Location | None:
    """The innermost statement that holds the line of `place`; of several in a line the first."""
    tree = parse_file(location.file)
    if tree is None:
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= location.line <= (node.end_lineno or 0)
    ]
    if not found:
        return None
    best = min(found, key=lambda node: ((node.end_lineno or 0) - node.lineno, -node.lineno))
    whole = location_of(location.file, best)
    return whole if whole.line == location.line else None


def statement_range(location: Location) -> Location | None:
    """The whole range of the statement or expression that starts at `place`."""
    tree = parse_file(location.file)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) == location.line and node.col_offset == location.column - 1:
            return location_of(location.file, node)
    return None
