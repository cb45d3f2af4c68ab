"""Finds the syntax tree of a function object, parsed once a file, with original positions."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType

from tilewright.support.errors import LanguageError, Location

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class _ParsedFile:
    lines: list[str]
    tree: ast.Module

    @cached_property
    def definitions(self) -> dict[tuple[str, int], _Definition]:
        """The functions of the file by name and first line; kernels are traced many times."""
        found: dict[tuple[str, int], _Definition] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, _Definition):
                found.setdefault((node.name, _first_line(node)), node)
        return found


_parsed: dict[str, _ParsedFile] = {}


def parse_file(file: str) -> ast.Module | None:
    """The tree of `file`, or None if its text is not reachable or does not parse."""
    parsed = _parse(file)
    return parsed.tree if parsed else None


def _parse(file: str) -> _ParsedFile | None:
    lines = linecache.getlines(file)
    if not lines:
        return None
    known = _parsed.get(file)
    if known is not None and known.lines is lines:
        return known
    try:
        tree = ast.parse("".join(lines), file)
    except SyntaxError:
        return None
    _parsed[file] = _ParsedFile(lines, tree)
    return _parsed[file]


def _first_line(node: _Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def function_node(function: FunctionType) -> ast.FunctionDef:
    """The definition of `function` in its file."""
    code = function.__code__
    if code.co_name == "<lambda>":
        raise LanguageError("a lambda cannot be a kernel", hint="define it with 'def'")
    parsed = _parse(code.co_filename)
    if parsed is None:
        raise LanguageError(
            f"the source text of '{code.co_name}' is not reachable ({code.co_filename})",
            hint="kernels are rewritten from their source: define them in a file",
        )
    node = parsed.definitions.get((code.co_name, code.co_firstlineno))
    if node is None:
        raise LanguageError(
            f"'{code.co_name}' is not found in {code.co_filename}",
            hint="the file changed since it was loaded",
        )
    if isinstance(node, ast.AsyncFunctionDef):
        raise LanguageError(
            "an 'async def' cannot be a kernel", location=location_of(code.co_filename, node)
        )
    return node


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
