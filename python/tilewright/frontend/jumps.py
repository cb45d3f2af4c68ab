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


def structure_jumps(block: list[ast.stmt]) -> list[ast.stmt]:
    """`block` with guards; nested blocks are structured too. The input is not changed."""
    result: list[ast.stmt] = []
    for position, statement in enumerate(block):
        result.append(_structure_inside(statement))
        if isinstance(statement, ast.Break | ast.Continue | ast.Return | ast.Raise):
            break
        kinds = jumps_in([statement])
        rest = block[position + 1 :]
        if kinds and rest:
            test = KeepGoing(frozenset(kinds), statement)
            guard = ast.If(test=test, body=structure_jumps(rest), orelse=[])
            ast.copy_location(guard, rest[0])
            result.append(guard)
            break
    return result


def _structure_inside(statement: ast.stmt) -> ast.stmt:
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
        fields = {name: getattr(statement, name, None) for name in statement._fields}
        fields["body"] = structure_jumps(statement.body)
        if "orelse" in fields:
            fields["orelse"] = structure_jumps(statement.orelse)
        return ast.copy_location(type(statement)(**fields), statement)
    return statement


def jumps_in(block: list[ast.stmt], loop_depth: int = 0) -> set[str]:
    """The kinds of jumps that may leave `block`; those of loops inside stay inside."""
    kinds: set[str] = set()
    for statement in block:
        if isinstance(statement, ast.Return):
            kinds.add(RETURN)
        elif isinstance(statement, ast.Break) and not loop_depth:
            kinds.add(BREAK)
        elif isinstance(statement, ast.Continue) and not loop_depth:
            kinds.add(CONTINUE)
        elif isinstance(statement, ast.If | ast.With):
            kinds |= jumps_in(statement.body, loop_depth)
            kinds |= jumps_in(getattr(statement, "orelse", []), loop_depth)
        elif isinstance(statement, ast.For | ast.While):
            kinds |= jumps_in(statement.body, loop_depth + 1)
            kinds |= jumps_in(statement.orelse, loop_depth)
    return kinds
