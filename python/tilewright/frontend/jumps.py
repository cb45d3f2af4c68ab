"""Makes jumps structured: what follows a statement that may jump moves into a guard.

    for k in T.serial(8):                 for k in T.serial(8):
        if A[k] > 0:                          if A[k] > 0:
            break                ──▶              break
        B[k] = 1                              if <keep going>:
                                                  B[k] = 1

`<keep going>` is a `KeepGoing` node. When it runs it is the Python value True unless a jump under a
run-time condition has set a flag: a jump that Python can decide really jumps. Statements after a
bare jump are dead and dropped.
"""

from __future__ import annotations

import ast

BREAK, CONTINUE, RETURN = "break", "continue", "return"


class KeepGoing(ast.expr):
    """The condition of a guard: none of the jumps in `kinds` was taken."""

    _fields = ()

    def __init__(self, kinds: frozenset[str], origin: ast.stmt) -> None:
        super().__init__()
        self.kinds = kinds
        ast.copy_location(self, origin)


#: The kinds of jumps that may leave statements, also from inside of a loop of them.
Known = dict[tuple[ast.stmt, bool], set[str]]


def structure_jumps(block: list[ast.stmt], known: Known | None = None) -> list[ast.stmt]:
    """`block` with guards; nested blocks are structured too. The input is not changed."""
    known = {} if known is None else known
    result: list[ast.stmt] = []
    for position, statement in enumerate(block):
        result.append(_structure_inside(statement, known))
        if isinstance(statement, ast.Break | ast.Continue | ast.Return | ast.Raise):
            break
        kinds = jumps_in([statement], known=known)
        rest = block[position + 1 :]
        if kinds and rest:
            test = KeepGoing(frozenset(kinds), statement)
            guard = ast.If(test=test, body=structure_jumps(rest, known), orelse=[])
            ast.copy_location(guard, rest[0])
            result.append(guard)
            break
    return result


def _structure_inside(statement: ast.stmt, known: Known) -> ast.stmt:
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
        fields = {name: getattr(statement, name, None) for name in statement._fields}
        fields["body"] = structure_jumps(statement.body, known)
        if "orelse" in fields:
            fields["orelse"] = structure_jumps(statement.orelse, known)
        return ast.copy_location(type(statement)(**fields), statement)
    return statement


def jumps_in(block: list[ast.stmt], in_loop: bool = False, known: Known | None = None) -> set[str]:
    """The kinds of jumps that may leave `block`; those of loops inside stay inside. `known` grows
    by all statements inside."""
    known = {} if known is None else known
    kinds: set[str] = set()
    for statement in block:
        if (statement, in_loop) not in known:
            known[statement, in_loop] = _jumps_of(statement, in_loop, known)
        kinds |= known[statement, in_loop]
    return kinds


def _jumps_of(statement: ast.stmt, in_loop: bool, known: Known) -> set[str]:
    if isinstance(statement, ast.Return):
        return {RETURN}
    if isinstance(statement, ast.Break | ast.Continue):
        return set() if in_loop else {BREAK if isinstance(statement, ast.Break) else CONTINUE}
    if isinstance(statement, ast.If | ast.With):
        after = getattr(statement, "orelse", [])
        return jumps_in(statement.body, in_loop, known) | jumps_in(after, in_loop, known)
    if isinstance(statement, ast.For | ast.While):
        after = jumps_in(statement.orelse, in_loop, known)
        return jumps_in(statement.body, True, known) | after
    return set()
