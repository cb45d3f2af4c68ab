"""Which names a statement assigns, and which are still needed after it.

A backward may-analysis on the syntax tree. Jumps count both as jumping and as falling through:
a jump under a run-time condition does not leave the traced code, the guards after it do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


Assigned = dict[ast.stmt, set[str]]  # the names that statements bind, of those that were asked


def assigned(nodes: Iterable[ast.AST], known: Assigned | None = None) -> set[str]:
    """The local names that `nodes` may bind; inner scopes have names of their own. `known` grows
    by all statements inside: an `elif` is asked once for each one before it."""
    names: set[str] = set()
    for node in nodes:
        _collect_assigned(node, names, False, {} if known is None else known)
    return names


def _collect_assigned(
    node: ast.AST, names: set[str], in_comprehension: bool, known: Assigned
) -> None:
    if isinstance(node, ast.stmt):
        if node not in known:
            known[node] = own = set()
            _collect_from_parts(node, own, in_comprehension, known)
        names |= known[node]
    else:
        _collect_from_parts(node, names, in_comprehension, known)


def _collect_from_parts(
    node: ast.AST, names: set[str], in_comprehension: bool, known: Assigned
) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store) and not in_comprehension:
            names.add(node.id)
        return
    if isinstance(node, ast.NamedExpr):
        names.add(node.target.id)  # binds in the function even from inside a comprehension
        _collect_assigned(node.value, names, in_comprehension, known)
        return
    if isinstance(node, _SCOPES):
        if hasattr(node, "name"):
            names.add(node.name)
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    inside = in_comprehension or isinstance(node, _COMPREHENSIONS)
    for child in ast.iter_child_nodes(node):
        _collect_assigned(child, names, inside, known)


def used(node: ast.AST | None) -> set[str]:
    """The names that `node` may read, inner scopes included."""
    if node is None:
        return set()
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def captured(function: ast.FunctionDef) -> set[str]:
    """Names that inner functions of `function` may read at any later time."""
    names: set[str] = set()
    for node in ast.walk(function):
        if node is not function and isinstance(node, ast.FunctionDef | ast.Lambda):
            own = {a.arg for a in [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs]}
            body = node.body if isinstance(node.body, list) else [node.body]
            for part in body:
                names |= used(part) - own
    return names


@dataclass
class _Exits:
    """What is live where `break` and `continue` of the innermost loop go."""

    on_break: set[str]
    on_continue: set[str]


class Liveness:
    """Live names after each `if` and loop of a function, and at the head of each loop."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.always = captured(function)
        self.after: dict[ast.stmt, set[str]] = {}
        self.at_head: dict[ast.stmt, set[str]] = {}
        self.at_end: dict[ast.stmt, set[str]] = {}  # of a loop: where its `else` would start
        self._block(function.body, set(), _Exits(set(), set()))

    def _block(self, block: list[ast.stmt], live: set[str], exits: _Exits) -> set[str]:
        for statement in reversed(block):
            live = self._statement(statement, live, exits)
        return live

    def _statement(self, node: ast.stmt, live: set[str], exits: _Exits) -> set[str]:
        if isinstance(node, ast.If):
            self.after[node] = live | self.always
            then = self._block(node.body, live, exits)
            return used(node.test) | then | self._block(node.orelse, live, exits)
        if isinstance(node, ast.For):
            return self._loop(node, live, exits, used(node.iter), assigned([node.target]), set())
        if isinstance(node, ast.While):
            return self._loop(node, live, exits, set(), set(), used(node.test))
        if isinstance(node, ast.With):
            inside = self._block(node.body, live, exits)
            for item in reversed(node.items):
                if item.optional_vars is not None:
                    inside = inside - assigned([item.optional_vars]) | used(item.optional_vars)
                inside = inside | used(item.context_expr)
            return inside
        if isinstance(node, ast.Break):
            return live | exits.on_break
        if isinstance(node, ast.Continue):
            return live | exits.on_continue
        if isinstance(node, ast.AugAssign):
            return live | used(node) | assigned([node.target])
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return live - _certain_names(targets) | used(node)
        return live | used(node)

    def _loop(
        self,
        node: ast.For | ast.While,
        live: set[str],
        outer: _Exits,
        once: set[str],
        target: set[str],
        each: set[str],
    ) -> set[str]:
        """`once` is read before the loop, `target` bound and `each` read in every iteration."""
        self.after[node] = live | self.always
        done = self._block(node.orelse, live, outer)
        self.at_end[node] = done | live | self.always
        head = each | done
        while True:
            exits = _Exits(on_break=live, on_continue=head)
            grown = head | (self._block(node.body, head, exits) - target)
            if grown == head:
                break
            head = grown
        self.at_head[node] = head | self.always
        return head | once


def _certain_names(targets: list[ast.expr]) -> set[str]:
    """Names that an assignment to `targets` certainly binds."""
    names: set[str] = set()
    for target in targets:
        if isinstance(target, ast.Name):
            names.add(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            names |= _certain_names(target.elts)
        elif isinstance(target, ast.Starred):
            names |= _certain_names([target.value])
    return names
