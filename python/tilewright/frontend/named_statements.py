"""Statements that TileLang spells as calls become Python's own before a function is rewritten.

    with T.If(c):                if condition_of(T.If(c)):
        with T.Then(): A    ──▶      A
        with T.Else(): B         else:
                                     B
    with T.While(c): A           while condition_of(T.While(c)): A
    T.loop_break()               break
    T.continue_loop()            continue
    T.thread_return()            return

So they have the meaning of Python's statements, with the values of names after a branch and what
follows a jump. Only the shape of the text counts here; `condition_of` refuses an `If` or
`While` that is not the language's.
"""

from __future__ import annotations

import ast

from tilewright.frontend.rewrite_expr import call, hook, located


def use_python_statements(block: list[ast.stmt], kind: str, in_loop: bool = False) -> None:
    """Rewrites `block` in place, and all blocks in it. `kind` is that of the function."""
    for position, statement in enumerate(block):
        block[position] = statement = _rewritten(statement, kind, in_loop)
        is_loop = isinstance(statement, ast.For | ast.While)
        if is_loop or isinstance(statement, ast.If | ast.With):
            use_python_statements(statement.body, kind, in_loop or is_loop)
            use_python_statements(getattr(statement, "orelse", []), kind, in_loop)


def _rewritten(statement: ast.stmt, kind: str, in_loop: bool) -> ast.stmt:
    new: ast.stmt | None = None
    if isinstance(statement, ast.With):
        new = _branch(statement) or _loop(statement)
    elif isinstance(statement, ast.Expr):
        called = _called(statement.value)
        if called in ("loop_break", "break_loop") and in_loop:
            new = ast.Break()
        elif called == "continue_loop" and in_loop:
            new = ast.Continue()
        elif called == "thread_return" and kind != "macro":
            new = ast.Return(value=None)
    return statement if new is None else ast.copy_location(new, statement)


def _called(node: ast.expr) -> str:
    """The last part of the name of the function that is called; "" for all else."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _sides(statement: ast.With) -> tuple[list[ast.stmt], list[ast.stmt]] | None:
    """What a `with` that begins with an `If` does on either side."""
    if len(statement.items) == 2 and _called(statement.items[1].context_expr) == "Then":
        return statement.body, []
    names = []
    for inner in statement.body:
        if not isinstance(inner, ast.With) or len(inner.items) != 1:
            return None
        names.append(_called(inner.items[0].context_expr))
    if len(statement.items) != 1 or names not in (["Then"], ["Then", "Else"], ["Else"]):
        return None
    bodies = {name: inner.body for name, inner in zip(names, statement.body, strict=True)}
    return bodies.get("Then", [ast.copy_location(ast.Pass(), statement)]), bodies.get("Else", [])


def _branch(statement: ast.With) -> ast.If | None:
    first = statement.items[0].context_expr
    if _called(first) != "If" or any(item.optional_vars for item in statement.items):
        return None
    sides = _sides(statement)
    if sides is None:
        return None
    test = located(call(hook("condition_of"), first), first)
    return ast.If(test=test, body=sides[0], orelse=sides[1])


def _loop(statement: ast.With) -> ast.While | None:
    first = statement.items[0]
    if len(statement.items) != 1 or first.optional_vars or _called(first.context_expr) != "While":
        return None
    test = located(call(hook("condition_of"), first.context_expr), first.context_expr)
    return ast.While(test=test, body=statement.body, orelse=[])
